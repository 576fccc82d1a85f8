/**
 * JSON in few bytes: compact, and deflated where it is long. Its first byte tells how; what was packed is read for ever, also what
 * earlier versions deflated with a dictionary.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { fromCompact } from './from-compact.js';
import type { Json } from './json.js';
import { toCompact } from './to-compact.js';

/** Never changed: names and values as they follow one another in events and documents of runs, with nothing of anybody's in them. */
const first = [
  '{"name":"","url":"https://www.","finalUrl":"http://","title":"","text":"","price":,"value":"","currency":"EUR"',
  '{"level":"log","message":"","line":1,"column":1,"hint":"","error":{"reason":"timed_out","message":"The site did not answer within 30 s."},',
  '"status":"failed","outcome":null,"values":{},"logs":[],"error":{"reason":"http_status","message":"The site answered ","status":404,',
  '"decision":{"notify":true,"reason":"triggered","transition":{"from":"false","to":"true"}},"notifications":[{"deliveryId":"dlv_01","organizationId":"org_01","taskId":"ntf_01","executionId":"exe_01","action":{"id":"act_01","type":"webhook","config":{"url":"',
  '"plan":{"taskId":"ntf_01","taskRevision":0,"schedule":{"type":"interval","intervalSeconds":300,"catchUp":"latest"},"active":true,"nextDueAt":"2026-12-01T00:00:00.000Z","highWaterMark":"2026-11-30T12:00:00.000Z"},"run":{"runId":"exe_01","taskId":"ntf_01","trigger":"schedule","scheduledFor":"2027-01-01T00:00:00.000Z","queuedAt":"2027-01-01T00:00:00.000Z","force":false,"dryRun":false},"skipped":null}',
  '{"organizationId":"org_01","actor":"system:scheduling","requestId":"slot.ntf_01","causationId":null,"at":"2027-01-01T00:00:00.000Z"}',
  '{"organizationId":"org_01","actor":"system:execution","requestId":"slot.ntf_01","causationId":"","at":"2027-01-01T00:00:00.000Z"}',
  '{"id":"exe_01","organizationId":"org_01","notificationId":"ntf_01","revision":0,"trigger":"schedule","status":"succeeded","outcome":false,"values":{},"logs":[],"error":null,"decision":{"notify":false,"reason":"not_true","transition":null},"snapshotId":"snp_01","page":{"finalUrl":"https://","status":200,"bytes":,"contentHash":"sha256:","fromCache":false},"scheduledFor":"2026-12-01T00:00:00.000Z","queuedAt":"2026-12-01T00:00:00.000Z","startedAt":"2026-12-01T00:00:00.000Z","finishedAt":"2026-12-01T00:00:00.000Z","timings":{"queueMs":,"fetchMs":,"parseMs":0,"evaluateMs":1},"seed":"exe_01"}',
  '{"result":{"runId":"exe_01","taskId":"ntf_01","taskRevision":0,"trigger":"schedule","force":false,"dryRun":false,"status":"succeeded","outcome":false,"values":{},"logs":[],"error":null,"page":{"finalUrl":"https://","status":200,"bytes":,"contentHash":"sha256:","fromCache":true},"snapshotId":"snp_01","scheduledFor":"2026-12-01T00:00:00.000Z","queuedAt":"2026-12-01T00:00:00.000Z","startedAt":"2026-12-01T00:00:00.000Z","finishedAt":"2026-12-01T00:00:00.000Z","timings":{"queueMs":,"fetchMs":,"parseMs":0,"evaluateMs":0},"seed":"exe_01"},"decision":{"notify":false,"reason":"not_changed","transition":null},"late":false,"notifications":[],"alert":{"condition":"false","told":"unknown","health":"ok","consecutiveErrors":0,"episode":0,"healthEpisode":0,"healthTold":false,"codeRevision":0,"lastSlot":"2026-12-01T00:00:00.000Z","recentRuns":["exe_01","exe_01"],"previous":{"outcome":false,"values":{},"at":"2026-12-01T00:00:00.000Z"},"state":{}}}',
].join('');

const dictionaries: readonly Buffer[] = [Buffer.from(first)];

/** What a packed value begins with where that is neither the number of a dictionary nor the letter that JSON begins with. */
const compact = 0x10;
const deflated = 0x11;
/** Compact JSON from this length on has texts in it that repeat something: shorter ones are hardly shorter deflated. */
const deflatedFrom = 400;
/** The look-back window of what is up to this size need not be larger; a smaller one is set up sooner. */
const smallText = 8_192;
/** For what is so small, higher levels save no byte and take half as long again, and so does room for what never comes. */
const small = { level: 4, windowBits: 13, memLevel: 5, chunkSize: 2_048 };
const large = { level: 6, windowBits: 15, memLevel: 8 };
const unpacking = { chunkSize: 4_096 };

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

/** `known`: texts that who unpacks it has too. */
export function packJson(value: Json, known: readonly string[] = []): Buffer {
  const bytes = toCompact(value, known);
  if (bytes === null) return Buffer.from(JSON.stringify(value));
  if (bytes.length >= deflatedFrom) {
    const shorter = deflateRawSync(bytes, bytes.length > smallText ? large : small);
    if (shorter.length < bytes.length) return Buffer.concat([Buffer.of(deflated), shorter]);
  }
  return Buffer.concat([Buffer.of(compact), bytes]);
}

/** Throws where it was not packed so. */
export function unpackJson(packed: Uint8Array, known: readonly string[] = []): Json {
  const [form = 0] = packed;
  const rest = packed.subarray(1);
  if (form === compact) return fromCompact(rest, known);
  if (form === deflated) return fromCompact(inflateRawSync(rest, unpacking), known);
  const dictionary = dictionaries[form - 1];
  const bytes = dictionary === undefined ? packed : inflateRawSync(rest, { ...unpacking, dictionary });
  return JSON.parse(textOf(bytes)) as Json;
}
