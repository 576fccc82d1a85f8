// planted: typescript/no-unsafe-argument
export const count = (text: string): number => Math.abs(JSON.parse(text));
