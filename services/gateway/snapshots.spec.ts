import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSqliteBus } from '#bus/sqlite';
import { requests } from '#contracts/catalogue';
import { executionsView, type ExecutionDocument } from '#contracts/run';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSqliteReadStore } from '#read-store/sqlite';
import { createIds } from '#runtime/ids';
import { silentLogger } from '#runtime/logger';
import type { ContentKind } from '#sandbox/sandbox';
import { errorOf, member, refused, startGateway, type GatewayKit } from './gateway.kit.js';

const stores = {
  eventStore: createSqliteEventStore(':memory:'),
  bus: createSqliteBus(':memory:', silentLogger),
  readStore: createSqliteReadStore(':memory:'),
};
const ids = createIds();
const taskId = ids.next('ntf');
let gateway: GatewayKit;
let organizationId: string;
let foreignKey: string;
let reader: string;

beforeAll(async () => {
  gateway = await startGateway(stores, { ANONYMOUS_PER_MINUTE: '100000' });
  organizationId = await gateway.addOrganization('enterprise');
  await gateway.addKey(organizationId, ['admin']);
  reader = await gateway.addKey(organizationId, ['read']);
  foreignKey = await gateway.addKey(await gateway.addOrganization('free'), ['admin']);
});
afterAll(async () => {
  await gateway.stop();
  await stores.bus.close();
  await stores.readStore.close();
  await stores.eventStore.close();
});

/** An execution, and the page it was made on. */
async function executed(text: string | null, contentKind: ContentKind = 'html'): Promise<string> {
  const id = ids.next('exe');
  const snapshotId = text === null ? null : ids.next('snp');
  const at = '2026-11-21T10:00:00.000Z';
  const document: ExecutionDocument = {
    id,
    organizationId,
    notificationId: taskId,
    revision: 0,
    trigger: 'schedule',
    status: 'succeeded',
    outcome: true,
    values: {},
    logs: [],
    error: null,
    decision: null,
    snapshotId,
    page: null,
    scheduledFor: at,
    queuedAt: at,
    startedAt: at,
    finishedAt: at,
    timings: null,
    seed: id,
  };
  await stores.readStore.save(executionsView, [{ id, revision: 1, document }], null);
  if (text === null || snapshotId === null) return id;
  const body = new TextEncoder().encode(text);
  await gateway.snapshots.save(
    {
      id: snapshotId,
      organizationId,
      taskId,
      taskRevision: 0,
      takenAt: at,
      url: 'https://example.com/#ä',
      finalUrl: 'https://example.com/#ä',
      status: 200,
      headers: {},
      contentKind,
      encoding: 'utf-8',
      contentHash: `sha256:${hash('sha256', body, 'hex')}`,
      bytes: body.byteLength,
    },
    body,
  );
  return id;
}

describe('the page of an execution', () => {
  const hostile = '<!doctype html><script>top.location="https://evil.example"</script><form action="//e"><p>grün 🎉';

  it('comes as it was, and can do nothing', async () => {
    const reply = await gateway.send('GET', `/api/executions/${await executed(hostile)}/snapshot`);
    expect([reply.status, reply.text]).toEqual([200, hostile]);
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect(reply.headers.get('x-frame-options')).toBe('SAMEORIGIN');
    expect(reply.headers.get('content-disposition')).toMatch(/^inline; filename="snp_[0-9a-z]{26}\.html"$/);
    const policy = reply.headers.get('content-security-policy')?.split('; ') ?? [];
    expect(policy).toEqual(
      expect.arrayContaining(['sandbox', "default-src 'none'", "form-action 'none'", "frame-ancestors 'self'"]),
    );
    expect(policy.join()).not.toMatch(/allow-|script-src|http/);
    expect(reply.headers.get('x-final-url')).toBe('https://example.com/#%C3%A4');
  });

  it.each(['json', 'text', 'xml'] as const)('is shown as text where it is %s', async (kind) => {
    const reply = await gateway.send('GET', `/api/executions/${await executed('{"a":"<b>&amp;"}', kind)}/snapshot`);
    expect(reply.text).toContain('<pre>{"a":"&#60;b&#62;&#38;amp;"}</pre>');
  });

  it('is not there where it is not kept, where none was loaded, and for others', async () => {
    const gone = refused(404, 'NOT_FOUND', 'snapshot_gone');
    const missing = refused(404, 'NOT_FOUND', 'not_found');
    const id = await executed('<p>1');
    expect(errorOf(await gateway.send('GET', `/api/executions/${id}/snapshot`, { key: foreignKey }))).toEqual(missing);
    expect(errorOf(await gateway.send('GET', `/api/executions/${ids.next('exe')}/snapshot`))).toEqual(missing);
    expect(errorOf(await gateway.send('GET', `/api/executions/exe_../snapshot`))).toEqual(missing);
    expect(errorOf(await gateway.send('GET', `/api/executions/${await executed(null)}/snapshot`))).toEqual(gone);
    await gateway.snapshots.forget(taskId);
    expect(errorOf(await gateway.send('GET', `/api/executions/${id}/snapshot`))).toEqual(gone);
    expect((await gateway.send('GET', `/api/executions/${id}/snapshot`, { key: null })).status).toBe(401);
  });
});

describe('the screenshot of an execution', () => {
  const png = Buffer.from('89504e470d0a1a0a00ff', 'hex');

  async function photographed(isScreenshot: boolean): Promise<string> {
    const id = await executed(null);
    const screenshotId = ids.next('snp');
    const found = await stores.readStore.get(executionsView, id);
    if (found === null) throw new Error('no execution');
    await stores.readStore.save(executionsView, [{ id, revision: 2, document: { ...found, screenshotId } }], null);
    const facts = { id: screenshotId, organizationId, taskId, taskRevision: 0, takenAt: '2026-11-21T10:00:00.000Z' };
    const url = 'https://example.com/';
    await gateway.snapshots.save(
      {
        ...facts,
        url,
        finalUrl: url,
        status: 200,
        headers: {},
        contentKind: 'text',
        ...(isScreenshot ? { isScreenshot: true } : {}),
        encoding: 'png',
        contentHash: `sha256:${hash('sha256', png, 'hex')}`,
        bytes: png.byteLength,
      },
      png,
    );
    return id;
  }

  it('comes byte for byte, as a picture that nothing else is made of', async () => {
    const reply = await gateway.send('GET', `/api/executions/${await photographed(true)}/screenshot`, { key: reader });
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(reply.headers.get('content-length')).toBe(String(png.byteLength));
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect(reply.text).toBe(new TextDecoder().decode(png));
  });

  it('is not there where none was kept, where a page stands in its place, and for others', async () => {
    const none = refused(404, 'NOT_FOUND', 'no_screenshot');
    const of = async (id: string, key?: string) =>
      errorOf(await gateway.send('GET', `/api/executions/${id}/screenshot`, key === undefined ? {} : { key }));
    expect(await of(await executed('<p>1'))).toEqual(none);
    expect(await of(await photographed(false))).toEqual(none);
    const id = await photographed(true);
    expect(await of(id, foreignKey)).toEqual(refused(404, 'NOT_FOUND', 'not_found'));
    await gateway.snapshots.forget(taskId);
    expect(await of(id)).toEqual(none);
  });
});

describe('the replay of an execution', () => {
  it('is asked of the execution service, for whom it belongs to', async () => {
    const id = await executed('<p>1');
    const found = {
      same: true,
      executionId: id,
      snapshotId: ids.next('snp'),
      revision: 0,
      seed: id,
      status: 'succeeded',
      outcome: true,
      values: {},
      logs: [],
      error: null,
      differences: [],
      timings: { parseMs: 1, evaluateMs: 1 },
    };
    const asked: unknown[] = [];
    const answering = await stores.bus.respond(requests.runReplay, async (payload, context) => {
      asked.push([payload, context.organizationId]);
      return found;
    });
    const reply = await gateway.send('POST', `/api/executions/${id}/replay`);
    expect([reply.status, member(reply.body, 'data')]).toEqual([200, found]);
    expect((await gateway.send('POST', `/api/executions/${id}/replay`, { body: {} })).status).toBe(200);
    expect(asked).toEqual([
      [{ executionId: id }, organizationId],
      [{ executionId: id }, organizationId],
    ]);
    expect((await gateway.send('POST', `/api/executions/${id}/replay`, { key: foreignKey })).status).toBe(404);
    expect((await gateway.send('POST', `/api/executions/${id}/replay`, { key: reader })).status).toBe(403);
    expect((await gateway.send('POST', `/api/executions/${id}/replay`, { body: { x: 1 } })).status).toBe(400);
    await answering.stop();
  });
});
