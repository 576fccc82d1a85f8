// planted: deciders-are-pure
export const stamp = (): Date => new Date();
