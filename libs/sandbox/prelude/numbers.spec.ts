import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decimalOfLocale, firstNumber } from './numbers.js';

const locales =
  'en en-US en-GB en-IN en-ZA en-AU en-CA de de-AT de-CH de-LI fr fr-BE fr-CA fr-CH es es-AR es-CL es-CO es-MX es-US it it-CH pt pt-BR pt-PT nl nl-BE sv nb nn da fi is pl cs sk hu ro bg uk ru be sr hr sl mk sq el tr az kk ka hy lt lv et ca eu gl id vi th ja ko zh zh-TW hi mr bn ne fa ar-EG ar-MA he ur af sw fil ms ta te kn ml gu pa my km lo'.split(
    ' ',
  );
const cents = fc.integer({ min: 0, max: 10 ** 11 }).map((value) => value / 100);

/** Text that holds no digit and ends in nothing that would join a sign to it. */
const words = fc.constantFrom('', 'now ', 'Preis: ', 'ab ', 'سعر ', '価格：', 'from\n', '\t', 'only… ', '(', '≈ ');
const behind = fc.constantFrom('', ' €', '€', ' kr', '%', ' / kg', '.', ', or more', '!', ' 円', ' — now', ')');

describe('the first number in a text', () => {
  it('equals the number that Intl formatted for the same locale', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...locales),
        cents,
        fc.integer({ min: 0, max: 3 }),
        fc.boolean(),
        (locale, value, digits, isNegative) => {
          const shown = Number((isNegative ? -value : value).toFixed(digits));
          const text = new Intl.NumberFormat(locale, {
            minimumFractionDigits: digits,
            maximumFractionDigits: digits,
          }).format(shown);
          // Marks of direction stand between sign and digits in some scripts; they are no part of the number.
          expect(firstNumber(text.replace(/[\u061c\u200e\u200f]/g, ''), locale) + 0).toBe(shown + 0);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('is found in a price as Intl formats it, without a locale and with words around it', () => {
    const currencies = fc.constantFrom('EUR', 'USD', 'GBP', 'INR', 'CHF', 'BRL', 'PLN', 'SEK');
    fc.assert(
      fc.property(
        fc.constantFrom(...locales),
        cents,
        currencies,
        words,
        behind,
        (locale, value, unit, before, after) => {
          const options = { style: 'currency', currency: unit, minimumFractionDigits: 2 } as const;
          const text = new Intl.NumberFormat(locale, options).format(value);
          expect(firstNumber(`${before}${text}${after}`, undefined)).toBe(value);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('is read by the decimal separator of the locale', () => {
    for (const locale of locales) {
      const sign = new Intl.NumberFormat(`${locale}-u-nu-latn`)
        .formatToParts(0.5)
        .find(({ type }) => type === 'decimal');
      // Arabic and Persian have signs of their own, which need no locale.
      if (sign?.value === '.' || sign?.value === ',')
        expect([locale, decimalOfLocale(locale)]).toEqual([locale, sign.value]);
    }
  });

  it('is found or missing in any text, and never takes long to search', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...Array.from('12 .,-−+eE€$٣٫\u00a0’(k')), maxLength: 60 }),
        (text) => {
          const value = firstNumber(text, undefined);
          expect(Number.isNaN(value)).toBe(!/[0-9٣]/.test(text));
          expect(Math.abs(value)).not.toBe(Infinity);
        },
      ),
      { numRuns: 1_000 },
    );
    for (const part of ['1.', '1 ', '1 111 ', '-', '$ ', '1,', 'a1'.padEnd(3)]) {
      expect(firstNumber(`${part.repeat(100_000)}`, undefined)).not.toBe(Infinity);
    }
  });

  const cases: readonly (readonly [string, number, string?])[] = [
    ['1.299,00 €', 1299],
    ['$1,299.00', 1299],
    ['1 299,00', 1299],
    ['1\u00a0299,00\u00a0€', 1299],
    ['1\u202f299,00', 1299],
    ["CHF 1'234.50", 1234.5],
    ['1’299.–', 1299],
    ['€ 12,-', 12],
    ['1.299', 1299],
    ['1,299', 1299],
    ['1.299', 1.299, 'en'],
    ['1.299', 1299, 'de'],
    ['1,299', 1.299, 'de'],
    ['1.299', 1.299, 'de-CH'],
    ['1.299,00', 1299, 'en-US'],
    ['1,299.00', 1299, 'de'],
    ['12.5', 12.5, 'de'],
    ['3.1415', 3.1415, 'de'],
    ['12,34,567.89', 1234567.89],
    ['1,23,456', 123456],
    ['1.234.56', 1234.56],
    ['1,234.567.890', 1234.567],
    ['-12 %', -12],
    ['−3.5', -3.5],
    ['–5 °C', -5],
    ['-$5.00', -5],
    ['−€ 3,50', -3.5],
    ['$-5', -5],
    ['(12)', 12],
    ['(1,234 reviews)', 1234],
    ['from 3 for 2', 3],
    ['1.5k', 1.5],
    ['10–20', 10],
    ['2024-05-01', 2024],
    ['12.05.2024', 12.05],
    ['v1.10.2', 1.1],
    ['10:30', 10],
    ['A-12', 12],
    ['No.5', 5],
    ['.5', 0.5],
    ['1e3', 1000],
    ['1.5e-3', 0.0015],
    ['1e10ff', 1],
    ['SKU 12e4567', 12],
    ['1e999', 1],
    ['٣٫٥', 3.5],
    ['١٬٢٩٩٫٥٠', 1299.5],
    ['१,२९९.५०', 1299.5],
    ['１２，３４５．６', 12345.6],
    ['۱۲٫۵', 12.5],
    ['012.345', 12.345],
    ['12 34', 12],
    ['Pack of 6 100 g', 6100],
    ['none', Number.NaN],
    ['½', Number.NaN],
  ];
  it.each(cases)('in %j is %d', (...[text, value, locale]) => {
    expect(firstNumber(text, locale)).toBe(value);
  });
});
