// planted: no-var
export function old(): number {
  var count = 1;
  return count;
}
