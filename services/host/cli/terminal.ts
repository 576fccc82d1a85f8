/** What commands say, and how they end. */
import { stripVTControlCharacters, styleText } from 'node:util';

/**
 * 0: done; 1: refused, with the reason told; 2: called in a way that there is not. 75: a part is out of reach; 78: settings:
 * of commands that others start and watch.
 */
export const exitCodes = { done: 0, refused: 1, usage: 2, unreachableServer: 75, unusableSettings: 78 } as const;

/** Ends a command, with exit code 1 where no other is named. The message is for the person who called it. */
export class Refused extends Error {
  constructor(
    readonly reason: string,
    message: string,
    readonly exitCode: number = exitCodes.refused,
  ) {
    super(message);
    this.name = 'Refused';
  }
}

/** Results to standard output, everything else to standard error, so that a pipe carries results alone. */
export function printResult(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printNote(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Where nobody reads results any more, as behind `| head`, the command still does what it was asked for: that is no defect. */
function ignoreGoneReader(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

export function allowGoneReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (!stream.listeners('error').includes(ignoreGoneReader)) stream.on('error', ignoreGoneReader);
  }
}

/** One JSON document on one line, for machines. */
export function printJson(value: unknown): void {
  printResult(JSON.stringify(value));
}

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

/** Colours where the output is a terminal that wants them. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout, validateStream: true });
}

/** Text of others (names, pages, logs) on one line, without anything that moves the cursor or turns the line around. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+/gu, ' ');
}

/** The same over several lines; tabs become blanks. */
export function plainLines(text: string): readonly string[] {
  return text
    .replaceAll('\t', '  ')
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(plain);
}

/** Rows under a head, each column as wide as its widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [styled('dim', line(head)), ...rows.map(line)].join('\n');
}
