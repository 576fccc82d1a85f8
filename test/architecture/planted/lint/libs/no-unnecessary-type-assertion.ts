// planted: typescript/no-unnecessary-type-assertion
export const same = (text: string): string => text as string;
