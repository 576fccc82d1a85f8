/** A place in somebody's code, with the line before it and a caret under it. Pure. */

const linesBefore = 2;
/** Of a long line, minified code say, only the part around the place is shown. */
const shownCharacters = 100;
/** What moves a cursor or turns a line around. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u;

/** Lines to print; none where the text has no such line. `line` and `column` count from 1. */
export function codeFrame(text: string, line: number, column: number): readonly string[] {
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/);
  const faulty = lines[line - 1];
  if (faulty === undefined) return [];
  const from = Math.max(0, Math.min(column - 1 - shownCharacters / 2, faulty.length - shownCharacters));
  // One blank for each character, so that the caret stands under its place whatever stood there.
  const shown = (content: string): string =>
    Array.from(content.slice(from, from + shownCharacters))
      .map((character) => (unprintable.test(character) ? ' ' : character))
      .join('');
  const width = String(line).length;
  const numbered = lines
    .slice(Math.max(0, line - 1 - linesBefore), line)
    .map((content, index, all) =>
      `  ${String(line - all.length + 1 + index).padStart(width)} | ${shown(content)}`.trimEnd(),
    );
  const before = Array.from(faulty.slice(from, Math.max(from, column - 1))).length;
  return [...numbered, `  ${' '.repeat(width)} | ${' '.repeat(before)}^`];
}
