// planted: deciders-are-pure
export const stamp = (): number => Date.now();
