/** How messages, requests and answers are written on the wire, and how anything that comes from there is read. */
import type { EventMetadata } from '#event-store/event-store';
import { AppError, errorCodes, type ErrorDetail } from '#runtime/errors';
import { isJsonObject, type Json, type JsonObject } from '#runtime/json';
import { unreadableType, type BusMessage, type RequestContext } from './bus.js';

const version = 1;

export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };
type Fields = Readonly<Record<string, unknown>>;

const unreadable = (reason: string): Read<never> => ({ ok: false, reason });

/** What is missing or of the wrong kind, or null. */
function faultIn(fields: Fields, strings: readonly string[], objects: readonly string[]): string | null {
  const isWrong = [
    ...strings.filter((name) => typeof fields[name] !== 'string').map((name) => `${name} must be a string`),
    ...objects.filter((name) => !isJsonObject(fields[name])).map((name) => `${name} must be an object`),
  ];
  return isWrong[0] ?? null;
}

function readEnvelope(value: Buffer | null, strings: readonly string[], objects: readonly string[]): Read<Fields> {
  if (value === null) return unreadable('it has no content');
  let parsed: unknown;
  try {
    parsed = JSON.parse(value.toString('utf8'));
  } catch {
    return unreadable('it is not JSON');
  }
  if (!isJsonObject(parsed)) return unreadable('it is not a JSON object');
  if (parsed['v'] !== version) return unreadable(`its envelope has an unknown version ${JSON.stringify(parsed['v'])}`);
  const fault = faultIn(parsed, strings, objects);
  return fault === null ? { ok: true, value: parsed } : unreadable(fault);
}

export function writeMessage({ id, type, key, data, metadata }: BusMessage): string {
  return JSON.stringify({ v: version, id, type, key, data, metadata });
}

export function readMessage(value: Buffer | null): Read<BusMessage> {
  const envelope = readEnvelope(value, ['id', 'type', 'key'], ['data', 'metadata']);
  if (!envelope.ok) return envelope;
  const { id, type, key, data, metadata } = envelope.value as unknown as BusMessage;
  const { causationId } = metadata;
  const fault = faultIn(metadata as unknown as Fields, ['organizationId', 'actor', 'requestId', 'at'], []);
  if (fault !== null) return unreadable(`metadata.${fault}`);
  if (typeof causationId !== 'string' && causationId !== null) {
    return unreadable('metadata.causationId must be a string or null');
  }
  return { ok: true, value: { id, type, key, data, metadata } };
}

const shownBytes = 4_096;

/** Stands for a message that cannot be read, so that operators see what came, where and when. */
export function unreadableMessage(place: string, key: string, value: Buffer | null, at: string): BusMessage {
  const metadata: EventMetadata = {
    organizationId: 'system',
    actor: 'system:bus',
    requestId: place,
    causationId: null,
    at,
  };
  const raw = value === null ? null : value.subarray(0, shownBytes).toString('utf8');
  return { id: place, type: unreadableType, key, data: { raw }, metadata };
}

export interface WireRequest {
  readonly id: string;
  readonly name: string;
  readonly payload: JsonObject;
  readonly context: RequestContext;
  /** By the requester's clock: who asks and who answers keep the same time to within a second or so. */
  readonly deadlineAtMs: number;
}

export function writeRequest({ id, name, payload, context, deadlineAtMs }: WireRequest): string {
  const { organizationId, actor, requestId } = context;
  return JSON.stringify({ v: version, id, name, payload, context: { organizationId, actor, requestId }, deadlineAtMs });
}

export function readRequest(value: Buffer | null): Read<WireRequest> {
  const envelope = readEnvelope(value, ['id', 'name'], ['payload', 'context']);
  if (!envelope.ok) return envelope;
  const { id, name, payload, context, deadlineAtMs } = envelope.value as unknown as WireRequest;
  const fault = faultIn(context as unknown as Fields, ['organizationId', 'actor', 'requestId'], []);
  if (fault !== null) return unreadable(`context.${fault}`);
  if (!Number.isFinite(deadlineAtMs)) return unreadable('deadlineAtMs must be a number');
  return { ok: true, value: { id, name, payload, context, deadlineAtMs } };
}

/** An error's own words stay with the responder unless they are meant for others. */
export type Answer =
  { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly error: AppError | null };

export function writeAnswer(answer: Answer): string {
  if (answer.ok) return JSON.stringify({ v: version, ok: true, value: answer.value ?? null });
  if (answer.error === null) return JSON.stringify({ v: version, ok: false });
  const { code, reason, message, details, retryAfterSeconds } = answer.error;
  return JSON.stringify({ v: version, ok: false, error: { code, reason, message, details, retryAfterSeconds } });
}

function readError(fields: Fields): AppError | null {
  const code = errorCodes.find((known) => known === fields['code']);
  const { reason, message, details, retryAfterSeconds } = fields;
  if (code === undefined || typeof reason !== 'string' || typeof message !== 'string') return null;
  return new AppError(code, reason, message, {
    ...(Array.isArray(details) ? { details: details as readonly ErrorDetail[] } : {}),
    ...(typeof retryAfterSeconds === 'number' ? { retryAfterSeconds } : {}),
  });
}

export function readAnswer(value: Buffer | null): Read<Answer> {
  const envelope = readEnvelope(value, [], []);
  if (!envelope.ok) return envelope;
  const { ok, value: result, error } = envelope.value;
  if (ok === true) return { ok: true, value: { ok: true, value: (result ?? null) as Json } };
  return { ok: true, value: { ok: false, error: isJsonObject(error) ? readError(error) : null } };
}
