/** From what the code came back with to the JSON that is handed out; all of it inside the sandbox, under its limits. */
import { endingReasonOf } from './ending-errors.js';
import { isOutputOverLimit, jsonText, logsJson, utf8Length, valuesJson } from './output.js';
import { touchedJson } from './touched.js';

const stringify = JSON.stringify;
const ownDescriptor = Object.getOwnPropertyDescriptor;
const isArray = Array.isArray;
const apply = Reflect.apply;
const toStringOf = Function.prototype.call.bind(Object.prototype.toString) as (value: unknown) => string;

/** What a failure may say at most; a message is for people. */
const messageLimit = 2_000;

function clipped(text: string): string {
  return text.length > messageLimit ? `${text.slice(0, messageLimit)}…` : text;
}

function failureJson(reason: string, message: string, stack: string): string {
  return `{"ok":false,"reason":"${reason}","message":${stringify(clipped(message))},"stack":${stringify(stack)},"values":${valuesJson()},"logs":${logsJson()},"touched":${touchedJson()}}`;
}

function quoted(text: string): string {
  return stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

/** Says what came back instead of a boolean, and what would help. */
function describeReturned(value: unknown): string {
  if (value === undefined) return 'The code returned nothing; return true or false.';
  if (value === null) return 'The code returned null; compare it: !== null.';
  if (typeof value === 'string') {
    const hint = value === 'true' || value === 'false' ? `=== '${value}'` : "=== '…', or .includes('…')";
    return `The code returned the string ${quoted(value)}; compare it: ${hint}.`;
  }
  if (typeof value === 'number') return `The code returned the number ${value}; compare it: === ${value}, or > 0.`;
  if (typeof value === 'bigint') return `The code returned the bigint ${value}n; compare it: > 0n.`;
  if (typeof value === 'symbol') return 'The code returned a symbol; return true or false.';
  if (typeof value === 'function') return 'The code returned a function; call it: (…)().';
  if (isArray(value)) return `The code returned an array of ${value.length}; compare its length: .length > 0.`;
  const name = toStringOf(value).slice(8, -1);
  if (typeof (value as { nodeType?: unknown }).nodeType === 'number') {
    return `The code returned a node (${name}); compare it: !== null.`;
  }
  if (typeof (value as { length?: unknown }).length === 'number') {
    return `The code returned a list (${name}); compare its length: .length > 0.`;
  }
  return `The code returned an object (${name}); return true or false.`;
}

/** `page.state` as JSON, or a failure. */
function stateJson(state: unknown, limitBytes: number): { text: string } | { failure: string } {
  if (typeof state !== 'object' || state === null || isArray(state)) {
    return { failure: failureJson('state_limit', 'page.state must be a JSON object.', '') };
  }
  const text = jsonText(state);
  if (text[0] !== '{') return { failure: failureJson('state_limit', 'page.state must be a JSON object.', '') };
  if (text.length > limitBytes || utf8Length(text) > limitBytes) {
    return { failure: failureJson('state_limit', `page.state is larger than ${limitBytes} bytes of JSON.`, '') };
  }
  return { text };
}

const outputMessage = 'The code logged and reported more than its limit allows.';

export function evaluationJson(value: unknown, state: unknown, stateBytes: number): string {
  if (isOutputOverLimit()) return failureJson('output_limit', outputMessage, '');
  if (typeof value !== 'boolean') return failureJson('not_boolean', describeReturned(value), '');
  const written = stateJson(state, stateBytes);
  if ('failure' in written) return written.failure;
  return `{"ok":true,"outcome":${value},"state":${written.text},"values":${valuesJson()},"logs":${logsJson()},"touched":${touchedJson()}}`;
}

export function scriptJson(value: unknown, outputBytes: number): string {
  if (isOutputOverLimit()) return failureJson('output_limit', outputMessage, '');
  const text = jsonText(value);
  if (text.length > outputBytes || utf8Length(text) > outputBytes) {
    return failureJson('output_limit', `The code returned more than ${outputBytes} bytes of JSON.`, '');
  }
  return `{"ok":true,"value":${text},"values":{},"logs":${logsJson()}}`;
}

type Getter = ((this: object) => unknown) | undefined;
const exceptionPrototype = (globalThis as { DOMException?: { prototype: object } }).DOMException?.prototype ?? {};
const exceptionName: Getter = ownDescriptor(exceptionPrototype, 'name')?.get;
const exceptionMessage: Getter = ownDescriptor(exceptionPrototype, 'message')?.get;

/** The engine's own getters of a `DOMException`; they refuse any other object. */
function exceptionText(object: object, getter: Getter): string | null {
  try {
    const text = getter === undefined ? null : apply(getter, object, []);
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}

/** Own data properties only: an error's getters are not run for a message. */
function ownText(object: object, name: string): string | null {
  let holder: object | null = object;
  for (let depth = 0; holder !== null && depth < 8; depth++) {
    const descriptor = ownDescriptor(holder, name);
    if (descriptor !== undefined) return typeof descriptor.value === 'string' ? descriptor.value : null;
    holder = Object.getPrototypeOf(holder) as object | null;
  }
  return null;
}

/** As for a message, no getters are run. */
function isErrorLike(object: object): boolean {
  return (
    ownText(object, 'message') !== null ||
    ownText(object, 'stack') !== null ||
    exceptionText(object, exceptionName) !== null
  );
}

export function thrownJson(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) {
    if (isOutputOverLimit()) return failureJson('output_limit', outputMessage, '');
    const text = typeof thrown === 'string' ? quoted(thrown) : String(thrown);
    return failureJson('threw', `The code threw ${text}, which is not an Error.`, '');
  }
  if (!isErrorLike(thrown)) {
    if (isOutputOverLimit()) return failureJson('output_limit', outputMessage, '');
    return failureJson('threw', 'The code threw an object, which is not an Error.', '');
  }
  const name = ownText(thrown, 'name') ?? exceptionText(thrown, exceptionName) ?? 'Error';
  const message = ownText(thrown, 'message') ?? exceptionText(thrown, exceptionMessage) ?? '';
  const stack = (ownText(thrown, 'stack') ?? '').slice(0, 4_000);
  if (isOutputOverLimit()) return failureJson('output_limit', outputMessage, stack);
  const reason = endingReasonOf(thrown);
  if (reason !== null) return failureJson(reason, message, stack);
  if (message === 'out of memory' && name === 'InternalError') {
    return failureJson('memory_limit', 'The code used more memory than its limit allows.', stack);
  }
  if (message === 'Maximum call stack size exceeded' && name === 'RangeError') {
    return failureJson('stack_limit', 'The code called itself too deeply.', stack);
  }
  return failureJson('threw', message === '' ? name : `${name}: ${message}`, stack);
}

export function unsettledJson(): string {
  return failureJson(
    'never_settled',
    'The code returned a promise that never settles: nothing is left that could settle it, and there are no timers.',
    '',
  );
}
