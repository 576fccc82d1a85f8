/** What the code logs and reports, counted against its limit while it runs and written as JSON at the end. */
// Taken before any user code runs: patched built-ins must not change what is handed back.
const stringify = JSON.stringify;
const { fromEntries } = Object;
const arrayOf = Array.from;
const [RealMap, RealSet] = [Map, Set];
const charCodeAt = Function.prototype.call.bind(String.prototype.charCodeAt) as (text: string, at: number) => number;

const levels = ['log', 'info', 'warn', 'error', 'debug'] as const;

let outputLimit = 0;
let outputBytes = 0;
let isOverOutputLimit = false;
let logTexts = '';
const valueNames: string[] = [];
const valueTexts: string[] = [];

export function startOutput(limitBytes: number): void {
  outputLimit = limitBytes;
}

export function isOutputOverLimit(): boolean {
  return isOverOutputLimit;
}

export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = charCodeAt(text, at);
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

function spend(text: unknown): void {
  // What made it may be patched: only of a text is the length what it counts.
  if (typeof text !== 'string') throw new TypeError('What is logged or reported is no text.');
  if (isOverOutputLimit) throw new RangeError('The output limit is used up.');
  outputBytes += text.length > outputLimit ? text.length : utf8Length(text);
  if (outputBytes <= outputLimit) return;
  isOverOutputLimit = true;
  throw new RangeError(`The code logged and reported more than ${outputLimit} bytes.`);
}

/** What each line costs besides its text: lines without any are not free. */
const lineBytes = 16;

/** What is no data is reported by what people see of it: a node by its text, a Map or Set by what it holds. */
function reportable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof RealMap) return fromEntries(value as Map<PropertyKey, unknown>);
  if (value instanceof RealSet) return arrayOf(value);
  const {
    nodeType,
    textContent,
    value: held,
  } = value as { nodeType?: unknown; textContent?: unknown; value?: unknown };
  if (typeof nodeType !== 'number') return value;
  return typeof held === 'string' && textContent === '' ? held : textContent;
}

/** JSON text of a value; `null` for what JSON has no form for. BigInts are written as text. */
export function jsonText(value: unknown): string {
  if (typeof value === 'object' && value !== null) return stringify(value, reportable) ?? 'null';
  if (typeof value === 'bigint') return stringify(value.toString());
  return stringify(value) ?? 'null';
}

export function reportValue(name: string, value: unknown): void {
  const text = jsonText(value);
  spend(name);
  spend(text);
  outputBytes += lineBytes;
  const at = valueNames.indexOf(name);
  if (at >= 0) {
    valueTexts[at] = text;
    return;
  }
  valueNames[valueNames.length] = name;
  valueTexts[valueTexts.length] = text;
}

const shownMarkup = 1_000;
const shownEntries = 200;
const shownDepth = 6;

function clipped(text: string): string {
  return text.length > shownMarkup ? `${text.slice(0, shownMarkup)}…` : text;
}

/** Of something inside a value; null: it is data, and written as such. */
function inspectedSpecial(value: object, around: readonly object[]): string | null {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) return 'Promise';
  if (around.includes(value)) return '[Circular]';
  const inner = [...around, value];
  if (value instanceof Map) {
    const entries = Array.from(value, ([key, held]) => `${inspected(key, inner)} => ${inspected(held, inner)}`);
    return `Map(${value.size}) {${entries.slice(0, shownEntries).join(', ')}}`;
  }
  if (value instanceof Set) {
    const entries = Array.from(value, (held) => inspected(held, inner));
    return `Set(${value.size}) {${entries.slice(0, shownEntries).join(', ')}}`;
  }
  const { outerHTML, nodeName } = value as { outerHTML?: unknown; nodeName?: unknown };
  if (typeof outerHTML === 'string') return clipped(outerHTML);
  return typeof nodeName === 'string' ? nodeName : null;
}

function isListLike(value: object): value is ArrayLike<unknown> {
  const name = Object.prototype.toString.call(value);
  return (
    Array.isArray(value) || ArrayBuffer.isView(value) || /^\[object (?:NodeList|HTMLCollection|Arguments)\]$/.test(name)
  );
}

/** As JSON where it is data; strings in quotation marks, because something is around them. */
function inspected(value: unknown, around: readonly object[]): string {
  if (typeof value === 'string') return stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `[function ${value.name === '' ? 'without a name' : value.name}]`;
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  const special = inspectedSpecial(value, around);
  if (special !== null) return special;
  if (around.length >= shownDepth) return '…';
  const inner = [...around, value];
  if (isListLike(value)) {
    const entries = Array.from({ length: Math.min(value.length, shownEntries) }, (_, at) =>
      inspected(value[at], inner),
    );
    return `[${entries.join(',')}${value.length > shownEntries ? `,… ${value.length - shownEntries} more` : ''}]`;
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return inspected((toJSON as () => unknown).call(value), inner);
  const keys = Object.keys(value);
  const members = keys
    .slice(0, shownEntries)
    .map((key) => `${stringify(key)}:${inspected((value as Record<string, unknown>)[key], inner)}`);
  return `{${members.join(',')}${keys.length > shownEntries ? `,… ${keys.length - shownEntries} more` : ''}}`;
}

function describeForLog(value: unknown): string {
  return typeof value === 'string' ? value : inspected(value, []);
}

/** `%s` and the like in the first text take the values that follow it. */
function formatted(values: readonly unknown[]): string {
  const [first, ...rest] = values;
  if (typeof first !== 'string' || rest.length === 0 || !first.includes('%'))
    return values.map(describeForLog).join(' ');
  const text = first.replace(/%([sdifoOjc%])/g, (mark, kind: string) => {
    if (kind === '%') return '%';
    if (rest.length === 0) return mark;
    const value = rest.shift();
    if (kind === 'c') return '';
    if (kind === 'd' || kind === 'f') return String(Number(value));
    if (kind === 'i') return String(Math.trunc(Number(value)));
    return kind === 's' ? describeForLog(value) : inspected(value, []);
  });
  return [text, ...rest.map(describeForLog)].join(' ');
}

let indent = '';

function logText(level: string, said: string): void {
  const message = indent === '' ? said : indent + said.replaceAll('\n', `\n${indent}`);
  spend(message);
  outputBytes += lineBytes;
  logTexts += `${logTexts === '' ? '' : ','}{"level":"${level}","message":${stringify(message)}}`;
}

function logLine(level: string, values: readonly unknown[]): void {
  logText(level, formatted(values));
}

export function logsJson(): string {
  return `[${logTexts}]`;
}

export function valuesJson(): string {
  let text = '';
  for (let at = 0; at < valueNames.length; at++) {
    text += `${at === 0 ? '' : ','}${stringify(valueNames[at])}:${valueTexts[at]}`;
  }
  return `{${text}}`;
}

/** One line per row: the index, then each column. */
function logTable(rows: unknown): void {
  if (typeof rows !== 'object' || rows === null) return logLine('log', [rows]);
  const lines = isListLike(rows) ? Array.from(rows, (row, at) => [String(at), row] as const) : Object.entries(rows);
  for (const [index, row] of lines.slice(0, shownEntries)) logText('log', `${index}: ${inspected(row, [])}`);
}

export function createConsole(): object {
  const console: Record<string, unknown> = {};
  const counts = new Map<string, number>();
  for (const level of levels) console[level] = (...values: unknown[]) => logLine(level, values);
  console['trace'] = (...values: unknown[]) => logLine('debug', ['Trace:', ...values]);
  console['dir'] = (value: unknown) => logText('log', describeForLog(value));
  console['dirxml'] = console['log'];
  console['table'] = logTable;
  console['assert'] = (condition: unknown, ...values: unknown[]) => {
    if (!condition) logLine('error', ['Assertion failed', ...values]);
  };
  console['group'] = console['groupCollapsed'] = (...values: unknown[]) => {
    if (values.length > 0) logLine('log', values);
    if (indent.length < 40) indent += '  ';
  };
  console['groupEnd'] = () => {
    indent = indent.slice(2);
  };
  console['count'] = (label: unknown = 'default') => {
    const count = (counts.get(String(label)) ?? 0) + 1;
    counts.set(String(label), count);
    logText('log', `${String(label)}: ${count}`);
  };
  console['countReset'] = (label: unknown = 'default') => void counts.delete(String(label));
  // The clock stands still while code runs.
  console['timeLog'] = console['timeEnd'] = (label: unknown = 'default', ...values: unknown[]) =>
    logLine('log', [`${String(label)}: 0 ms`, ...values]);
  for (const quiet of ['time', 'timeStamp', 'clear', 'profile', 'profileEnd']) console[quiet] = () => undefined;
  return console;
}
