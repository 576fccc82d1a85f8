import { describe, expect, it } from '@jest/globals';
import { IntlMessageFormat } from 'intl-messageformat';
import { de } from './de.js';
import { en, englishParts } from './en.js';

interface Piece {
  readonly type: number;
  readonly value?: unknown;
  readonly children?: readonly Piece[];
  readonly options?: Readonly<Record<string, { readonly value: readonly Piece[] }>>;
}

const literal = 0;
const pound = 7;

/** The values that a message takes, those inside of the branches of a plural and of elements included. */
function valuesIn(pieces: readonly Piece[]): readonly string[] {
  return pieces.flatMap(({ type, value, children = [], options = {} }) => [
    ...(type === literal || type === pound ? [] : [String(value)]),
    ...valuesIn(children),
    ...Object.values(options).flatMap((option) => valuesIn(option.value)),
  ]);
}

function placeholders(message: string): readonly string[] {
  const pieces = new IntlMessageFormat(message, 'en').getAst() as unknown as readonly Piece[];
  return [...new Set(valuesIn(pieces))].sort();
}

describe('the catalogues of texts', () => {
  it('have each key in one part alone', () => {
    const all = englishParts.flatMap((part) => Object.keys(part));
    expect(all.filter((key, index) => all.indexOf(key) !== index)).toEqual([]);
    expect(all.length).toBe(Object.keys(en).length);
  });

  it.each([
    ['en', en],
    ['de', de],
  ] as const)('hold messages that can be read: %s', (language, catalogue) => {
    for (const message of Object.values(catalogue)) {
      expect(() => new IntlMessageFormat(message, language)).not.toThrow();
    }
  });

  it('take the same values in every language', () => {
    for (const [key, message] of Object.entries(en)) {
      const translated = placeholders(de[key as keyof typeof en]);
      expect([key, ...translated]).toEqual([key, ...placeholders(message)]);
    }
  });
});
