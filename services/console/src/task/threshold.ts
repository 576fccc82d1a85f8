/** The number that a condition compares the reported value with, where the code says it plainly. */

const comparison = /return\s+(?:value|price|number|count)\s*(<=?|>=?)\s*(-?\d+(?:\.\d+)?)\s*;?\s*$/;

export function thresholdOf(code: string): { readonly value: number; readonly isBelow: boolean } | null {
  const found = comparison.exec(code.trim());
  if (found === null) return null;
  return { value: Number(found[2]), isBelow: found[1]?.startsWith('<') ?? false };
}
