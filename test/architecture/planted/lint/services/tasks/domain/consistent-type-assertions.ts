// planted: typescript/consistent-type-assertions
export const name = (value: unknown): string => value as string;
export const light = ['on', 'off'] as const;
