// planted: typescript/no-non-null-assertion
export const first = (items: readonly string[]): string => items[0]!;
