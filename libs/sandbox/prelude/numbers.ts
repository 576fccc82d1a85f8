/**
 * `page.number`: the first number in a text, whatever way it is written.
 *
 * A separator's place decides what it is: of two kinds the last is the decimal one, what comes more than once groups, and
 * so does one with exactly three digits behind it, as in 1.299 and 1,299. Only that last case is open to doubt, and only
 * there a locale decides. Parentheses are brackets around a count, not an accountant's minus; what follows the number
 * (%, €, k) is left aside; an exponent counts where nothing but digits follow.
 */
/** Locales (by language, then by region) that write 1.234,56 or 1 234,56; all others write 1,234.56. */
const commaLanguages =
  ' af an az be bg bs ca cs da de el es et eu fi fo fr fur fy gl hr hu hy id is it ka kk kl ky lb lo lt lv mk mn nb nl nn no oc pl pt ro ru rw sk sl sq sr sv tg tk tr tt uk uz vi wa ';
const pointRegions = ' de-ch de-li it-ch es-mx es-us es-pr es-gt es-hn es-ni es-pa es-pe es-sv es-do rm-ch ';
const commaRegions = ' ar-dz ar-ly ar-ma ar-tn en-za en-dk en-de en-at en-fi en-be en-nl en-se en-si ';

export function decimalOfLocale(locale: string): '.' | ',' {
  const tag = ` ${locale.toLowerCase().replaceAll('_', '-')} `;
  if (pointRegions.includes(tag)) return '.';
  if (commaRegions.includes(tag)) return ',';
  const language = tag.split('-')[0]?.trim() ?? '';
  return commaLanguages.includes(` ${language} `) ? ',' : '.';
}

/** Zeros of the scripts that write numbers with ten digits of their own; the other nine follow each. */
const zeros = [
  0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0e50, 0x0ed0,
  0x0f20, 0x1040, 0x17e0, 0x1810, 0xff10,
];
const hex = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`;
const otherDigits = zeros.map((zero) => `${hex(zero)}-${hex(zero + 9)}`).join('');
const digit = `[0-9${otherDigits}]`;
/** No-break, figure, thin, and narrow no-break spaces stand between digits as blanks do. */
const blank = '[ \\u00a0\\u2007\\u2009\\u202f]';
const apostrophe = "'\\u2019\\u02bc\\uff07";
const point = '.,\\u066b\\u066c\\uff0c\\uff0e';
const minus = '\\-\\u2010\\u2011\\u2012\\u2013\\u2212\\ufe63\\uff0d';
const currency = '[$\\u00a2-\\u00a5\\u058f\\u060b\\u09f3\\u0e3f\\u17db\\u20a0-\\u20c0\\ufdfc\\uff04]';

/** Digits with single separators between them; blanks only where three digits follow. A sign stands right before, or before a currency sign. */
const numberRun = new RegExp(
  `([+${minus}](?:${currency}${blank}?)?)?((?:[.,\\u066b](?=${digit}))?${digit}+` +
    `(?:(?:[${point}${apostrophe}](?=${digit})|${blank}(?=${digit}{3}(?!${digit})))${digit}+)*)` +
    `(?:[eE]([+${minus}]?[0-9]{1,3}))?`,
);
/** Marks that join their neighbours into one word. */
const wordMark = /[\p{L}\p{N}]/u;
const anyOtherDigit = new RegExp(`[${otherDigits}]`, 'g');
const apostrophes = new RegExp(`[${apostrophe}]`, 'g');
const blanks = new RegExp(blank, 'g');

function toAscii(text: string): string {
  return text
    .replace(anyOtherDigit, (mark) => {
      const code = mark.charCodeAt(0);
      const zero = zeros.find((each) => code >= each && code <= each + 9) ?? code;
      return String(code - zero);
    })
    .replaceAll('\u066c', "'")
    .replaceAll('\uff0c', ',')
    .replaceAll('\uff0e', '.')
    .replace(apostrophes, "'")
    .replace(blanks, ' ');
}

/** Three digits each, or two each and three last, as in India. */
function isGrouped(parts: readonly string[]): boolean {
  const [first = '', ...rest] = parts;
  const last = rest.pop() ?? '';
  if (first.length < 1 || first.length > 3 || last.length !== 3) return false;
  return rest.every((part) => part.length === 3) || (first.length < 3 && rest.every((part) => part.length === 2));
}

/** `whole` without separators and the digits behind the decimal separator. */
interface Split {
  readonly whole: string;
  readonly fraction: string;
}

function splitAt(run: string, at: number): Split {
  const whole = (at < 0 ? run : run.slice(0, at)).replace(/[^0-9]/g, '');
  // Nothing groups the digits behind it: there the number ends.
  return { whole, fraction: at < 0 ? '' : (/^[0-9]*/.exec(run.slice(at + 1))?.[0] ?? '') };
}

function splitNumber(run: string, locale: string | undefined): Split {
  const arabic = run.indexOf('\u066b');
  if (arabic >= 0) return splitAt(run, arabic);
  const [points, commas] = [run.split('.').length - 1, run.split(',').length - 1];
  if (points === 0 && commas === 0) return splitAt(run, -1);
  if (points > 0 && commas > 0) {
    const decimal = run.lastIndexOf('.') > run.lastIndexOf(',') ? '.' : ',';
    if ((decimal === '.' ? points : commas) === 1) return splitAt(run, run.lastIndexOf(decimal));
    // 1,234.567.890 is not a number in use: the number ends before the last of them.
    return splitNumber(run.slice(0, run.lastIndexOf(decimal)), locale);
  }
  const separator = points > 0 ? '.' : ',';
  const parts = run.split(separator);
  if (parts.length > 2) {
    if (isGrouped(parts)) return splitAt(run, -1);
    // 1,234,56: one sign stands for both.
    if ((parts.at(-1)?.length ?? 0) < 3 && isGrouped(parts.slice(0, -1)))
      return splitAt(run, run.lastIndexOf(separator));
    // A date or a version, 12.05.2024: the first number in it is 12.05.
    return splitAt(parts.slice(0, 2).join(separator), parts[0]?.length ?? 0);
  }
  const at = run.indexOf(separator);
  // Something else groups already.
  if (/['\s]/.test(run)) return splitAt(run, at);
  const [whole = '', fraction = ''] = parts;
  const isOpen = fraction.length === 3 && whole.length >= 1 && whole.length <= 3 && !whole.startsWith('0');
  if (!isOpen) return splitAt(run, at);
  const isDecimal = locale !== undefined && decimalOfLocale(locale) === separator;
  return splitAt(run, isDecimal ? at : -1);
}

/** NaN where there is none. */
export function firstNumber(text: string, locale: string | undefined): number {
  const match = numberRun.exec(text);
  if (match === null) return Number.NaN;
  const [found, sign = '', run = '', exponent] = match;
  // A sign that joins the digits to a word or a number, as in A-12 or 2024-05, is none; nor is the point in No.5.
  const isJoined = wordMark.test(text.charAt(match.index - 1));
  const isNegative = sign !== '' && !sign.startsWith('+') && !isJoined;
  const { whole, fraction } = splitNumber(toAscii(sign === '' && isJoined ? run.replace(/^[.,]/, '') : run), locale);
  const mantissa = `${whole === '' ? '0' : whole}.${fraction === '' ? '0' : fraction}`;
  const next = text.charAt(match.index + found.length);
  const hasPower = exponent !== undefined && next !== '.' && next !== ',' && !wordMark.test(next);
  const scaled = Number(hasPower ? `${mantissa}e${exponent.replace(/[^0-9+]/, '-')}` : mantissa);
  const value = Number.isFinite(scaled) ? scaled : Number(mantissa);
  return isNegative ? -value : value;
}
