/** What the code logs and reports, counted against its limit while it runs and written as JSON at the end. */
// Taken before any user code runs: patched built-ins must not change what is handed back.
const stringify = JSON.stringify;
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

function spend(text: string): void {
  if (isOverOutputLimit) throw new RangeError('The output limit is used up.');
  outputBytes += text.length > outputLimit ? text.length : utf8Length(text);
  if (outputBytes <= outputLimit) return;
  isOverOutputLimit = true;
  throw new RangeError(`The code logged and reported more than ${outputLimit} bytes.`);
}

/** JSON text of a value; `null` for what JSON has no form for. BigInts are written as text. */
export function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return stringify(value.toString());
  return stringify(value) ?? 'null';
}

export function reportValue(name: string, value: unknown): void {
  const text = jsonText(value);
  spend(name);
  spend(text);
  const at = valueNames.indexOf(name);
  if (at >= 0) {
    valueTexts[at] = text;
    return;
  }
  valueNames[valueNames.length] = name;
  valueTexts[valueTexts.length] = text;
}

function describeForLog(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `[function ${value.name === '' ? 'without a name' : value.name}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const { outerHTML, nodeName } = value as { outerHTML?: unknown; nodeName?: unknown };
  if (typeof outerHTML === 'string') return outerHTML;
  if (typeof nodeName === 'string') return nodeName;
  try {
    return stringify(value) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

function logLine(level: string, values: readonly unknown[]): void {
  const message = values.map(describeForLog).join(' ');
  spend(message);
  logTexts += `${logTexts === '' ? '' : ','}{"level":"${level}","message":${stringify(message)}}`;
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

export function createConsole(): object {
  const console: Record<string, unknown> = {};
  for (const level of levels) console[level] = (...values: unknown[]) => logLine(level, values);
  console['trace'] = console['debug'];
  console['dir'] = console['log'];
  console['table'] = console['log'];
  console['assert'] = (condition: unknown, ...values: unknown[]) => {
    if (!condition) logLine('error', ['Assertion failed', ...values]);
  };
  for (const quiet of ['group', 'groupEnd', 'groupCollapsed', 'time', 'timeEnd', 'timeLog', 'count', 'clear']) {
    console[quiet] = () => undefined;
  }
  return console;
}
