import { hash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { hashOfChange, type ChainedChange } from './audit.js';

const metadata = {
  organizationId: 'org_1',
  actor: 'key:key_1',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-26T10:00:00.000Z',
};
const change = (data: ChainedChange['data']): ChainedChange => ({
  stream: 'task-ntf_1',
  revision: 3,
  id: '0C6F3B52-7C0F-4A08-8A8E-9E0C8F1D4B11',
  type: 'task.changed',
  version: 1,
  data,
  metadata,
});

/** As documented for those who recompute it themselves. */
const recomputed = ({ stream, revision, id, type, version, data }: ChainedChange, digest?: string): string => {
  const { organizationId, actor, requestId, at } = metadata;
  const digestOfData = digest ?? hash('sha256', JSON.stringify(data), 'base64url');
  const members = [stream, revision, id.toLowerCase(), type, version, organizationId, actor, requestId, at];
  return hash('sha256', JSON.stringify(['before', ...members, digestOfData]), 'base64url');
};

describe('the hash of an entry of the audit', () => {
  it.each([
    { $sealed: 'AZaz09-_' },
    { $sealed: '' },
    { $sealed: 'a"b' },
    { $sealed: 'a\\b\u2028\n' },
    { $sealed: 'é=+/' },
    { $sealed: 'abc', for: 'abc' },
    { for: 'abc', $sealed: 'abc' },
    { $sealed: 1 },
    { name: 'a task', tags: ['a'] },
    {},
  ])('is that of the JSON of its data: %j', (data) => {
    expect(hashOfChange(change(data), 'before')).toBe(recomputed(change(data)));
  });

  it('is that of what the data was before it was erased', () => {
    const erased = change({ $erased: 'a-digest' });
    expect(hashOfChange(erased, 'before')).toBe(recomputed(erased, 'a-digest'));
  });
});
