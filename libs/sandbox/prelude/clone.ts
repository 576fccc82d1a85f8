/** `structuredClone`, after the HTML standard's structured serialisation. */
import { domError } from './dom-exception.js';

const errors: Readonly<Record<string, ErrorConstructor>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};
type Copy = (value: unknown) => unknown;
type Remember = <Made extends object>(made: Made) => Made;

function refused(what: string): Error {
  return domError('DataCloneError', `${what} could not be cloned.`);
}

/** Objects whose content cannot be read from outside. */
const closed = [Promise, WeakMap, WeakSet, WeakRef] as const;

function copyError(source: Error, copy: Copy, remember: Remember): Error {
  const name = String(source.name);
  const make = Object.hasOwn(errors, name) ? errors[name] : undefined;
  const made = remember(new (make ?? Error)());
  for (const key of ['message', 'stack'] as const) {
    const descriptor = Object.getOwnPropertyDescriptor(source, key);
    if (descriptor === undefined || !('value' in descriptor)) continue;
    Object.defineProperty(made, key, { value: String(descriptor.value), writable: true, configurable: true });
  }
  if (Object.hasOwn(source, 'cause')) {
    Object.defineProperty(made, 'cause', { value: copy(source.cause), writable: true, configurable: true });
  }
  return made;
}

function copyView(source: ArrayBufferView, copy: Copy, remember: Remember): object {
  const buffer = copy(source.buffer) as ArrayBuffer;
  if (source instanceof DataView) return remember(new DataView(buffer, source.byteOffset, source.byteLength));
  const { length, byteOffset, constructor } = source as Uint8Array;
  const known: unknown = Reflect.get(globalThis, Object.prototype.toString.call(source).slice(8, -1));
  const Typed = (typeof known === 'function' ? known : constructor) as Uint8ArrayConstructor;
  return remember(new Typed(buffer, byteOffset, length));
}

function copyMembers(source: object, made: object, copy: Copy): void {
  for (const key of Object.keys(source)) {
    // Defined and not set: `__proto__` is a name like any other.
    const value = copy((source as Record<string, unknown>)[key]);
    Object.defineProperty(made, key, { value, writable: true, enumerable: true, configurable: true });
  }
}

function copyObject(source: object, copy: Copy, remember: Remember): object {
  if (Array.isArray(source)) {
    const made = remember(new Array<unknown>(source.length));
    copyMembers(source, made, copy);
    return made;
  }
  if (source instanceof Date) return remember(new Date(source.getTime()));
  if (source instanceof RegExp) return remember(new RegExp(source.source, source.flags));
  if (source instanceof Boolean || source instanceof Number || source instanceof String) {
    return remember(Object(source.valueOf()) as object);
  }
  if (source instanceof Map) {
    const made = remember(new Map<unknown, unknown>());
    for (const [key, held] of source) made.set(copy(key), copy(held));
    return made;
  }
  if (source instanceof Set) {
    const made = remember(new Set<unknown>());
    for (const held of source) made.add(copy(held));
    return made;
  }
  if (source instanceof Error) return copyError(source, copy, remember);
  if (source instanceof ArrayBuffer) return remember(source.slice(0));
  if (ArrayBuffer.isView(source)) return copyView(source, copy, remember);
  const name = Object.prototype.toString.call(source).slice(8, -1);
  if (closed.some((kind) => source instanceof kind)) throw refused(`A ${name}`);
  if (typeof (source as { nodeType?: unknown }).nodeType === 'number') throw refused('A node');
  if (source instanceof Symbol || /^(?:NodeList|HTMLCollection|URL|URLSearchParams|Generator)$/.test(name)) {
    throw refused(`A ${name}`);
  }
  const made = remember<Record<string, unknown>>({});
  copyMembers(source, made, copy);
  return made;
}

/** What is met twice is copied once; cycles stay cycles. */
export function cloneOf(value: unknown): unknown {
  const seen = new Map<object, unknown>();
  const copy: Copy = (source) => {
    if (typeof source === 'function' || typeof source === 'symbol') throw refused(String(source));
    if (typeof source !== 'object' || source === null) return source;
    const known = seen.get(source);
    if (known !== undefined) return known;
    return copyObject(source, copy, (made) => {
      seen.set(source, made);
      return made;
    });
  };
  return copy(value);
}
