/** The console's German for what the server says goes by codes and sentences that the server has. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { saidDe } from '../../services/console/src/text/said/said-de.js';
import { deliveryReasonsDe } from '../../services/console/src/text/said/sent-de.js';
import { sentencesDe } from '../../services/console/src/text/said/wording-de.js';

/** The server's code, as text: the console shares none of it. */
function sourcesIn(folder: string): string {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'console')
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      if (entry.isDirectory()) return sourcesIn(path);
      return /(?<!\.spec|\.kit|\.contract|\.d)\.ts$/.test(entry.name) ? readFileSync(path, 'utf8') : '';
    })
    .join('\n');
}

/** Quotation marks stand in literals as they are said. */
const sources = ['libs', 'services'].map(sourcesIn).join('\n').replaceAll('\\`', '`');

/** A sentence may be made of two pieces: `There is no such ` and the name of the thing. */
function isSaid(words: string): boolean {
  const spaces = [...words.matchAll(/ /g)].map(({ index }) => index);
  return (
    sources.includes(words) ||
    spaces.some((at) => sources.includes(words.slice(0, at)) && sources.includes(words.slice(at + 1)))
  );
}

/** Sentences of which a value is a part: what the server has of them. */
const written: Readonly<Record<string, readonly string[]>> = {
  'The page is one that the parser cannot read.': ['is one that the parser cannot read'],
  'The page is blown up by its entities.': ['is blown up by its entities'],
  'set fetch.mode to "browser".': ['set fetch.mode to "browser"'],
  '` found nothing under that name.': ['found nothing under that name'],
  'The answer did not begin within': ['did not begin'],
  'The answer was not complete within': ['was not complete'],
  '1 failed run in a row': ["'failed run'", ' in a row'],
  'No run happened for one slot (': ['No run happened for ', 'one slot'],
  'It missed one slot and went on at': ['It missed ', 'one slot', ' and went on at '],
};

/** What stands between values and marks, where it is long enough to be told from other words. */
const piecesOf = (said: string): readonly string[] =>
  said
    .split(/\{\w+\}|\*{8}|[,:;.] /)
    .map((piece) => piece.trim())
    .filter((piece) => piece.length > 12);

/** What the console says itself of an answer that it cannot read. */
const ownReason = 'unreadable';
const codes = [...Object.entries(saidDe.reasons), ...Object.entries(saidDe.rules)].filter(
  ([code]) => code !== ownReason,
);

describe('the German for what the server says', () => {
  it.each(codes)('goes by a code that the server answers: %s', (code) => {
    expect(sources).toContain(`'${code}'`);
  });

  it.each(codes)('goes by sentences that the server says: %s', (_code, sayings) => {
    const said = typeof sayings === 'string' ? [] : sayings.map(([english]) => english);
    expect(said.flatMap(piecesOf).filter((piece) => !isSaid(piece))).toEqual([]);
  });

  it.each(Object.keys(deliveryReasonsDe))('goes by a reason of deliveries that the server has: %s', (reason) => {
    expect(sources.includes(`'${reason}'`)).toBe(true);
  });

  it('goes by sentences about runs and messages that the server says', () => {
    const said = sentencesDe.map(([english]) => english);
    const pieces = said.flatMap(piecesOf).flatMap((piece) => written[piece] ?? [piece]);
    expect(pieces.filter((piece) => !isSaid(piece))).toEqual([]);
  });
});
