// planted: prefer-const
export function fixed(): number {
  let count = 1;
  return count;
}
