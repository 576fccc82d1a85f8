// planted: max-depth
export function deep(a: boolean): number {
  if (a) {
    for (const x of [1]) {
      if (x > 0) {
        for (const y of [2]) {
          if (y > 0) {
            if (x > y) return 1;
          }
        }
      }
    }
  }
  return 0;
}
