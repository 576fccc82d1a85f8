/** How many levels of lists and objects a value may have: what stores and shows it walks it level by level. */

/** Of a reported value, of `page.state`, and of what a script returns. */
export const deepestNesting = 64;

/** Walks no deeper than asked, and without recursion: the value comes from code that is not trusted. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 0; depth < levels && level.length > 0; depth++) {
    level = level.flatMap((container) => Object.values(container) as readonly unknown[]).filter(isContainer);
  }
  return level.length > 0;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
