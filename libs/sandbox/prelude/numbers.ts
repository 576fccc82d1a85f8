/** `page.number`: the first number in a text, whatever way its separators are written. */
/** Locales (by language, then by region) that write 1.234,56 or 1 234,56; all others write 1,234.56. */
const commaLanguages =
  ' af an az be bg bs ca cs da de el es et eu fi fo fr fur fy gl hr hu hy id is it ka kk kl ky lb lt lv mk mn nb nl nn no oc pl pt ro ru rw sk sl sq sr sv tg tk tr tt uk uz vi wa ';
const pointRegions = ' de-ch de-li it-ch es-mx es-us es-pr es-gt es-hn es-ni es-pa es-pe es-sv es-do fr-ch rm-ch ';

function decimalOfLocale(locale: string): '.' | ',' {
  const tag = locale.toLowerCase().replaceAll('_', '-');
  if (pointRegions.includes(` ${tag} `)) return '.';
  const language = tag.split('-')[0] ?? '';
  return commaLanguages.includes(` ${language} `) ? ',' : '.';
}

/** Digits of other scripts have the same ten in a row; each zero's code point. */
const zeros = [0x0660, 0x06f0, 0x0966, 0x09e6, 0x0e50, 0xff10];

function withAsciiDigits(text: string): string {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\u0e50-\u0e59\uff10-\uff19]/g, (digit) => {
    const code = digit.charCodeAt(0);
    const zero = zeros.find((each) => code >= each && code <= each + 9) ?? code;
    return String(code - zero);
  });
}

const spaces = /[\s\u00a0\u2007\u2009\u202f]/g;

/** A run of digits with single separators between them; spaces only where three digits follow. */
const numberRun =
  /[-+\u2212]?(?:[.,\u066b](?=\d))?\d+(?:(?:[.,'\u2019\u066b\u066c](?=\d)|[ \u00a0\u2007\u2009\u202f](?=\d{3}(?!\d)))\d+)*(?:[eE][-+]?\d+)?/;

function isGrouped(digits: string, separator: string): boolean {
  const groups = digits.split(separator);
  const [first = '', ...rest] = groups;
  if (first.length === 0 || first.length > 3) return false;
  const isIndian = rest.slice(0, -1).every((group) => group.length === 2);
  const isThousands = rest.every((group) => group.length === 3);
  return isThousands || (isIndian && (rest.at(-1)?.length ?? 0) === 3);
}

/** The separator that ends the whole part, '' if there is none. */
function decimalSeparator(run: string, locale: string | undefined): string {
  const hasPoint = run.includes('.');
  const hasComma = run.includes(',');
  if (locale !== undefined) return decimalOfLocale(locale);
  if (hasPoint && hasComma) return run.lastIndexOf('.') > run.lastIndexOf(',') ? '.' : ',';
  if (!hasPoint && !hasComma) return '';
  const separator = hasPoint ? '.' : ',';
  if (run.indexOf(separator) !== run.lastIndexOf(separator)) return isGrouped(run, separator) ? '' : separator;
  const [whole = '', fraction = ''] = run.split(separator);
  // One separator with three digits after it: a thousands comma in most of the world's prices, a decimal point in none.
  const looksGrouped = fraction.length === 3 && whole.length >= 1 && whole.length <= 3 && !whole.startsWith('0');
  if (/['\u2019 \u00a0\u2007\u2009\u202f]/.test(run)) return separator;
  return looksGrouped ? '' : separator;
}

export function firstNumber(text: string, locale: string | undefined): number {
  const match = numberRun.exec(withAsciiDigits(text));
  if (match === null) return Number.NaN;
  const [found] = match;
  const before = match.index > 0 ? text.charAt(match.index - 1) : '';
  // A sign belongs to the number unless it joins it to what stands before, as in "A-12" or "2024-05".
  const isJoined = /[\p{L}\p{N}]/u.test(before);
  const isNegative = /^[-\u2212]/.test(found) && !isJoined;
  const [mantissa = '', exponent] = found.replace(/^[-+\u2212]/, '').split(/[eE]/);
  const run = mantissa.replaceAll('\u066b', '.').replace(/[\u066c'\u2019]/g, "'");
  const decimal = decimalSeparator(run, locale);
  const at = decimal === '' ? -1 : run.lastIndexOf(decimal);
  const digitsOnly = (part: string): string => part.replace(spaces, '').replace(/[^\d]/g, '');
  const whole = digitsOnly(at < 0 ? run : run.slice(0, at));
  const fraction = at < 0 ? '' : digitsOnly(run.slice(at + 1));
  const value = Number(
    `${whole === '' ? '0' : whole}.${fraction === '' ? '0' : fraction}${exponent === undefined ? '' : `e${exponent}`}`,
  );
  return isNegative ? -value : value;
}
