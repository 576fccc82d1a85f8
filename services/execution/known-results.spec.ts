import { describe, expect, it } from '@jest/globals';
import type { Snapshot } from '#snapshots/snapshots';
import { KnownResults } from './known-results.js';

describe('the cache of known results', () => {
  const snapshot: Snapshot = {
    id: 'snp_1',
    organizationId: 'org_00000000000000000000000001',
    taskId: 'ntf_00000000000000000000000001',
    taskRevision: 0,
    takenAt: '2026-11-21T10:00:00.000Z',
    url: 'https://example.com/',
    finalUrl: 'https://example.com/',
    status: 200,
    headers: {},
    contentKind: 'html',
    encoding: 'utf-8',
    contentHash: 'sha256:00',
    bytes: 4,
  };
  const entry = (text: string) => ({
    snapshot,
    validators: { etag: null, lastModified: null },
    result: { snapshotId: 'snp_1', readsHeaders: false, outcome: true, values: { text }, logs: [] },
    readsPreviousText: false,
  });

  it('is bounded: it drops those used longest ago first', () => {
    const known = new KnownResults();
    for (let task = 0; task < 100_000; task += 1) {
      known.set(`ntf_${task}`, entry('x'.repeat(2_000)));
      known.get('ntf_0');
    }
    expect(known.get('ntf_0')).not.toBe(null);
    expect(known.get('ntf_1')).toBe(null);
    expect(known.get('ntf_99999')).not.toBe(null);
  });

  it('holds no large results', () => {
    const known = new KnownResults();
    known.set('ntf_0', entry('x'.repeat(20_000)));
    expect(known.get('ntf_0')).toMatchObject({ result: null, snapshot: { id: 'snp_1' } });
  });
});
