import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { packed } from './packed-body.js';
import { snapshotKeyOf, withMacs } from './snapshot-macs.js';
import { snapshotOf } from './snapshots.contract.js';
import type { Snapshot, Snapshots } from './snapshots.js';
import { createSqliteSnapshots } from './sqlite.js';

const key = Buffer.alloc(32, 7);
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const hashOf = (body: Uint8Array): string => `sha256:${hash('sha256', body, 'hex')}`;

describe('a snapshot with a MAC', () => {
  let folder: string;
  let kept: Snapshots;
  const file = (): string => join(folder, 'snapshots.db');
  const open = (secretKey: Uint8Array = key, ...former: readonly Uint8Array[]): Snapshots =>
    withMacs(
      createSqliteSnapshots(file(), { keepCount: 10, keepDays: 3_650 }),
      [secretKey, ...former].map(snapshotKeyOf),
    );
  const whole: Snapshot = snapshotOf(bytesOf('<p>seen'), {
    certificate: { validFrom: 'a', validTo: 'b', issuer: 'c', subject: 'd', fingerprint: 'e' },
    rendered: true,
  });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'meerkat-macs-'));
    kept = open();
    await kept.save(whole, bytesOf('<p>seen'));
  });
  afterEach(async () => {
    await kept.close();
    rmSync(folder, { recursive: true });
  });

  /** Somebody with the data folder writes facts, and a content that agrees with them. */
  async function alter(facts: (known: Record<string, unknown>) => object, body = bytesOf('<p>seen')): Promise<void> {
    await kept.close();
    const database = new DatabaseSync(file());
    const known = JSON.parse(String(database.prepare('SELECT facts FROM snapshots').get()?.['facts'])) as object;
    database.prepare('UPDATE snapshots SET facts = ?').run(JSON.stringify(facts({ ...known })));
    database.prepare('UPDATE contents SET hash = ?, packed = ?').run(hashOf(body), await packed(body));
    database.close();
    kept = open();
  }
  const found = async (): Promise<readonly [Snapshot | undefined, Snapshot | undefined]> => [
    (await kept.list(whole.taskId, 1))[0],
    (await kept.read(whole.taskId, whole.id))?.snapshot,
  ];

  it('is what was kept, after the next start too', async () => {
    await alter((known) => known);
    const expected = { ...whole, mac: expect.any(String) };
    expect(await found()).toEqual([expected, expected]);
  });

  it.each([
    ['its address', { finalUrl: 'https://evil.example/' }],
    ['its status', { status: 201 }],
    ['its headers', { headers: { ...whole.headers, etag: '"2"' } }],
    ['its revision', { taskRevision: 4 }],
    ['its time', { takenAt: '2026-01-02T12:00:00.000Z' }],
    ['its certificate', { certificate: { ...whole.certificate, fingerprint: 'f' } }],
    ['who rendered it', { rendered: undefined }],
    ['what it is', { isScreenshot: true }],
    ['its encoding', { encoding: 'latin1' }],
    ['its MAC', { mac: Buffer.alloc(16).toString('base64url') }],
    ['the length of its MAC', { mac: 'AA' }],
  ])('is not there where somebody changed %s', async (_, change) => {
    await alter((known) => ({ ...known, ...change }));
    expect(await found()).toEqual([undefined, undefined]);
  });

  it('is not there where its content was changed together with its digest', async () => {
    const body = bytesOf('<p>evil');
    await alter((known) => ({ ...known, contentHash: hashOf(body) }), body);
    expect(await found()).toEqual([undefined, undefined]);
  });

  it('is not there for another installation', async () => {
    await kept.close();
    kept = open(Buffer.alloc(32, 8));
    expect(await found()).toEqual([undefined, undefined]);
  });

  it('is unproven where it has none, whatever it says of itself', async () => {
    const body = bytesOf('<p>evil');
    await alter(({ mac: _mac, ...known }) => ({ ...known, contentHash: hashOf(body), isUnproven: undefined }), body);
    const [listed, read] = await found();
    expect([listed?.isUnproven, read?.isUnproven]).toEqual([true, true]);
  });

  it('of a former key of the installation is as good as one of now', async () => {
    await kept.close();
    kept = open(Buffer.alloc(32, 8), key);
    expect((await kept.read(whole.taskId, whole.id))?.snapshot.isUnproven).toBeUndefined();
    await kept.close();
    kept = open(Buffer.alloc(32, 8));
    expect(await kept.read(whole.taskId, whole.id)).toBeNull();
  });
});
