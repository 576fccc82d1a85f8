// planted: max-params
type Count = number;
export const sum = (a: Count, b: Count, c: Count, d: Count, e: Count, f: Count, g: Count, h: Count, i: Count): Count =>
  a + b + c + d + e + f + g + h + i;
