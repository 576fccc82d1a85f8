/**
 * Snapshots that carry a MAC over all that is known of them, the digest of their content included, by a key from the
 * installation's secret. Somebody who can write where they are kept, without that key, can take pages away and make none.
 */
import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { Snapshot, Snapshots } from './snapshots.js';

const macBytes = 16;

/** All of it but what the MAC says. */
function textOf(snapshot: Snapshot): string {
  const { id, organizationId, taskId, taskRevision, takenAt, url, finalUrl, status, headers, certificate } = snapshot;
  const { contentKind, rendered, isScreenshot, encoding, contentHash, bytes } = snapshot;
  const { validFrom, validTo, issuer, subject, fingerprint } = certificate ?? {};
  return JSON.stringify([
    [id, organizationId, taskId, taskRevision, takenAt, url, finalUrl, status],
    Object.entries(headers),
    certificate === undefined ? null : [validFrom, validTo, issuer, subject, fingerprint],
    [contentKind, rendered ?? false, encoding, contentHash, bytes, ...(isScreenshot === true ? ['screenshot'] : [])],
  ]);
}

/** What a thread that keeps pages needs of the secret, and no more. */
export const snapshotKeyOf = (secretKey: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secretKey, '', 'meerkat snapshot', 32));

/**
 * One with a wrong MAC is not there; one of before there were any is unproven. `keys`: of `snapshotKeyOf`, the one that signs
 * first, then those before it.
 */
export function withMacs(snapshots: Snapshots, keys: readonly Uint8Array[]): Snapshots {
  const all = keys.map((key) => createSecretKey(key));
  const [current] = all;
  if (current === undefined) return snapshots;
  const digestOf = (snapshot: Snapshot, key = current): Buffer =>
    createHmac('sha256', key).update(textOf(snapshot)).digest().subarray(0, macBytes);

  const judged = (snapshot: Snapshot): Snapshot | null => {
    if (snapshot.mac === undefined) return { ...snapshot, isUnproven: true };
    const given = Buffer.from(snapshot.mac, 'base64url');
    const isBy = (key: KeyObject): boolean => timingSafeEqual(given, digestOf(snapshot, key));
    return given.byteLength === macBytes && all.some(isBy) ? snapshot : null;
  };

  return {
    save(snapshot, body) {
      const { isUnproven: _isUnproven, ...facts } = snapshot;
      return snapshots.save({ ...facts, mac: digestOf(snapshot).toString('base64url') }, body);
    },
    async list(taskId, limit) {
      return (await snapshots.list(taskId, limit)).map(judged).filter((one) => one !== null);
    },
    async read(taskId, id) {
      const page = await snapshots.read(taskId, id);
      const snapshot = page === null ? null : judged(page.snapshot);
      return page === null || snapshot === null ? null : { ...page, snapshot };
    },
    forget: (...args) => snapshots.forget(...args),
    sweep: (...args) => snapshots.sweep(...args),
    close: () => snapshots.close(),
  };
}
