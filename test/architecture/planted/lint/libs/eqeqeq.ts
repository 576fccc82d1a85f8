// planted: eqeqeq
export const same = (a: string, b: string): boolean => a == b;
