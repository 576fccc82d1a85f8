// planted: deciders-are-pure
export const signedAtMs = (): number => Date.now();
