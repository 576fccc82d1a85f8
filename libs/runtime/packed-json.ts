/**
 * Short JSON in few bytes: deflated with a dictionary of what most of it has in common, as one text alone has too little to repeat.
 * What was packed is read for ever: a dictionary is never changed, a better one gets the next number.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Names and values as they follow one another in events and documents of runs, with nothing of anybody's in them. */
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
const newest = dictionaries.length;
/** A text shorter than this is kept as it is. */
const shortest = 64;
/** The look-back window of a text up to this size need not be larger; a smaller one is set up sooner. */
const smallText = 8_192;
/** For texts like these, higher levels save no byte and take half as long again, and so does room for what never comes. */
const small = { level: 4, windowBits: 13, memLevel: 5, chunkSize: 2_048 };
const large = { level: 6, windowBits: 15, memLevel: 8 };
const unpacking = { chunkSize: 4_096 };

/** Its first byte tells how it is packed: the number of a dictionary, or the letter that JSON begins with. */
export function packJson(text: string): Buffer {
  const plain = Buffer.from(text);
  const dictionary = dictionaries[newest - 1];
  if (plain.length < shortest || dictionary === undefined) return plain;
  const packed = deflateRawSync(plain, { ...(plain.length > smallText ? large : small), dictionary });
  return packed.length + 1 >= plain.length ? plain : Buffer.concat([Buffer.of(newest), packed]);
}

/** Throws where it was not packed so. */
export function unpackJson(packed: Uint8Array): string {
  const number = packed[0] ?? 0;
  const dictionary = dictionaries[number - 1];
  const bytes = dictionary === undefined ? packed : inflateRawSync(packed.subarray(1), { ...unpacking, dictionary });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
