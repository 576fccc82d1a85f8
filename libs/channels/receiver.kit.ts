/** For specs: receivers that take what their vendor documents and nothing else, and show what people would see. */
import { z } from 'zod';
import type { HttpOutgoing } from './channel.js';
import { dialects, type Dialect } from './dialects.kit.js';
import { kitTimeMs } from './notification.kit.js';
import type { Measure } from './text-limits.js';

export interface VendorReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | object;
}

/** One operation of a vendor. A request is taken by the first that its method and address fit. */
export interface Operation {
  readonly method: string;
  /** Origin and path. */
  readonly address: RegExp;
  readonly headers?: z.ZodType;
  readonly query?: z.ZodType;
  /** Of a body of JSON. */
  readonly json?: z.ZodType;
  /** Of a body that is a form. */
  readonly form?: z.ZodType;
  /** Of a body of several parts: fields by name, of a file its bytes as base64. */
  readonly parts?: z.ZodType;
  /** The body is a picture. */
  readonly isPicture?: true;
  /** Whatever no schema says: each fault is a sentence. */
  readonly faults?: (request: HttpOutgoing, url: URL, nowMs: number) => readonly string[];
  /** What people see that a page may have written: places in the body, `blocks.*.text`, and how they are read. */
  readonly shown?: Readonly<Record<string, Dialect>>;
  readonly reply: VendorReply;
}

export interface VendorReceiver {
  readonly operations: readonly Operation[];
}

export interface Judgement {
  readonly faults: readonly string[];
  readonly reply: VendorReply;
}

/** A text that is not longer than the vendor takes, by its own count, and not empty. */
export function upTo(limit: number, measure: Measure): z.ZodString {
  return z
    .string()
    .min(1)
    .refine((text) => measure(text) <= limit, { error: `is longer than ${limit}` });
}

/** An address that the vendor takes in a field of its own. */
export const publicAddress = z.url({ protocol: /^https?$/, hostname: /^[^.]+(\.[^.]+)+$/ });

export const bearer = (token: RegExp): z.ZodType =>
  z.looseObject({ authorization: z.string().regex(new RegExp(`^Bearer ${token.source}$`)) });

function issuesOf(what: string, schema: z.ZodType | undefined, value: unknown): string[] {
  if (schema === undefined) return [];
  const parsed = schema.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => `${what}.${path.join('.')} ${message}`);
}

/** A PNG, as base64. */
export const pngText = z.string().regex(/^iVBORw0KGgo/);

function partsOf({ binary }: HttpOutgoing): { value: unknown; faults: string[] } {
  if (binary?.kind !== 'form') return { value: null, faults: ['the body has no parts'] };
  const named = binary.parts.map((part): [string, string] => [
    part.name,
    'value' in part ? part.value : Buffer.from(part.bytes).toString('base64'),
  ]);
  return { value: Object.fromEntries(named), faults: [] };
}

function bodyOf(operation: Operation, request: HttpOutgoing): { value: unknown; faults: string[] } {
  const { json, form } = operation;
  const { body, binary } = request;
  if (operation.parts !== undefined) return partsOf(request);
  if (operation.isPicture === true) {
    const isPng = binary?.kind === 'bytes' && Buffer.from(binary.bytes).toString('base64').startsWith('iVBORw0KGgo');
    return { value: null, faults: isPng ? [] : ['the body is no PNG'] };
  }
  if (binary !== undefined) return { value: null, faults: ['the body is no text'] };
  if (json !== undefined) {
    try {
      return { value: JSON.parse(body ?? '') as unknown, faults: [] };
    } catch {
      return { value: null, faults: ['the body is not JSON'] };
    }
  }
  if (form === undefined) return { value: null, faults: body === null ? [] : ['there is a body'] };
  return { value: Object.fromEntries(new URLSearchParams(body ?? '')), faults: [] };
}

function textsAt(value: unknown, [step, ...rest]: readonly string[]): string[] {
  if (typeof value === 'string' && step === undefined) return [value];
  if (typeof value !== 'object' || value === null || step === undefined) return [];
  const inner = step === '*' ? Object.values(value) : [(value as Record<string, unknown>)[step]];
  return inner.flatMap((one: unknown) => textsAt(one, rest));
}

/** Never `undefined` where a name had no value. */
function leakedNames(value: unknown): string[] {
  return /\bundefined\b|\[object Object\]|\bNaN\b/.test(JSON.stringify(value) ?? '')
    ? ['a name leaks as undefined']
    : [];
}

/** `nowMs`: of the vendor's clock. */
export function judge({ operations }: VendorReceiver, request: HttpOutgoing, nowMs: number = kitTimeMs): Judgement {
  const url = new URL(request.url);
  const fitting = operations.filter(
    ({ method, address }) => method === request.method && address.test(`${url.origin}${url.pathname}`),
  );
  const isForm = request.binary?.kind === 'form';
  const operation = fitting.find(({ parts }) => (parts !== undefined) === isForm) ?? fitting[0];
  if (operation === undefined) {
    return { faults: [`there is no ${request.method} ${url.href}`], reply: { status: 404, body: 'not found' } };
  }
  const { value, faults } = bodyOf(operation, request);
  const contentType = operation.json === undefined ? /^application\/x-www-form-urlencoded/ : /^application\/json/;
  const isTyped =
    (request.body === null && request.binary?.kind !== 'bytes') ||
    (operation.isPicture === true && request.headers['content-type'] === 'image/png') ||
    contentType.test(request.headers['content-type'] ?? '');
  const said = [
    ...faults,
    ...(isTyped ? [] : ['the content type is wrong']),
    ...(Object.keys(request.headers).every((name) => name === name.toLowerCase())
      ? []
      : ['headers are not lower case']),
    ...issuesOf('headers', operation.headers, request.headers),
    ...issuesOf('query', operation.query, Object.fromEntries(url.searchParams)),
    ...issuesOf('body', operation.json ?? operation.form ?? operation.parts, value),
    ...leakedNames(operation.parts === undefined ? value : null),
    ...(operation.faults?.(request, url, nowMs) ?? []),
  ];
  if (said.length > 0) return { faults: said, reply: { status: 400, body: said.join('\n') } };
  const active = Object.entries(operation.shown ?? {}).flatMap(([place, dialect]) =>
    textsAt(value, place.split('.')).flatMap((text) => dialects[dialect](text).map((what) => `${place}: ${what}`)),
  );
  return { faults: active, reply: operation.reply };
}
