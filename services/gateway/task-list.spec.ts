import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { recentRunsView, type RecentRunsDocument } from '#contracts/recent-runs';
import { attentionOf, tasksView, type TaskDocument } from '#contracts/task';
import { errorOf, idOf, member, refused, type GatewayKit } from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

let opened: OpenedGateway;
let gateway: GatewayKit;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
});
afterAll(() => opened.close());

const namesAt = async (query: string): Promise<unknown[]> => {
  const { body } = await gateway.send('GET', `/api/notifications?${query}`);
  const items = member(body, 'data');
  return Array.isArray(items) ? items.map((item) => member(item, 'name')) : [];
};

describe('the list of tasks', () => {
  it('is narrowed to the one that has an externalKey, as it is written', async () => {
    const keys = ['shop/kettle', 'shop/Kettle', "a'b%_\\", 'ключ 1'];
    for (const [index, externalKey] of keys.entries()) await opened.create({ name: `keyed ${index}`, externalKey });
    for (const [index, externalKey] of keys.entries()) {
      expect(await namesAt(new URLSearchParams({ externalKey }).toString())).toEqual([`keyed ${index}`]);
    }
    expect(await namesAt('externalKey=shop')).toEqual([]);
    expect(await namesAt('externalKey=%25')).toEqual([]);
  });

  it('has the last runs of each task where that is asked for, and only then', async () => {
    const id = idOf(await opened.create({ name: 'ran', tags: ['recent'] }));
    await opened.create({ name: 'never ran', tags: ['recent'] });
    const atMs = Date.parse('2026-11-24T10:00:00.000Z');
    const document: RecentRunsDocument = {
      organizationId: opened.organizationId,
      runs: [['exe_00000000000000000000000001', atMs, 'succeeded', true, 1]],
      values: [[atMs, 7]],
    };
    await opened.stores.readStore.save(recentRunsView, [{ id, revision: 1, document }], null);
    const { body } = await gateway.send('GET', '/api/notifications?tag=recent&sort=name&include=recent');
    expect(member(body, 'data', 0, 'recent')).toEqual({ runs: [], values: [] });
    const at = '2026-11-24T10:00:00.000Z';
    expect(member(body, 'data', 1, 'recent')).toEqual({
      runs: [{ id: 'exe_00000000000000000000000001', at, status: 'succeeded', outcome: true, notified: true }],
      values: [{ at, value: 7 }],
    });
    const plain = await gateway.send('GET', '/api/notifications?tag=recent');
    expect(plain.text).not.toContain('"recent":{');
    expect((await gateway.send('GET', '/api/notifications?include=everything')).status).toBe(400);
  });

  it('holds only what all filters take', async () => {
    await opened.create({ name: 'both', tags: ['shop', 'de'] });
    await opened.create({ name: 'one', tags: ['shop'], status: 'paused' });
    expect(await namesAt('tag=shop&sort=name')).toEqual(['both', 'one']);
    expect(await namesAt('tag=shop&status=paused')).toEqual(['one']);
    expect(await namesAt('tag=de&status=paused')).toEqual([]);
    expect(await namesAt('tag=sho')).toEqual([]);
    expect(await namesAt('tag=shop&q=BOT&condition=unknown&health=ok')).toEqual(['both']);
  });

  it('sorted by attention begins with what wants to be looked at, whatever its age', async () => {
    const tag = 'attention';
    const wanted: readonly [string, Partial<TaskDocument>, number][] = [
      ['quiet', { condition: 'false' }, 0],
      ['true for long', { condition: 'true' }, 1_000],
      ['true now', { condition: 'true' }, 2_000],
      ['failing', { health: 'error' }, 0],
      ['refused', { health: 'blocked' }, 1],
    ];
    for (const [name, found, turnedTrueMs] of wanted) {
      const id = idOf(await opened.create({ name, tags: [tag] }));
      const stored = (await opened.stores.readStore.load(tasksView, [id])).get(id);
      if (stored?.document === undefined || stored.document === null) throw new Error('the task is not in the view');
      const document = { ...stored.document, ...found };
      const attention = attentionOf(document, turnedTrueMs);
      const write = { id, revision: stored.revision + 0.5, document: { ...document, attention } };
      await opened.stores.readStore.save(tasksView, [write], null);
    }
    const order = ['refused', 'failing', 'true now', 'true for long', 'quiet'];
    expect(await namesAt(`tag=${tag}&sort=attention`)).toEqual(order);
    expect(await namesAt(`tag=${tag}&sort=attention&limit=3&page=2`)).toEqual(order.slice(3));
    expect(await namesAt(`tag=${tag}&health=error`)).toEqual(['failing']);
    expect(await namesAt(`tag=${tag}&health=blocked`)).toEqual(['refused']);
  });

  it.each([
    ['externalKey=', 'external_key_required'],
    [`externalKey=${'x'.repeat(201)}`, 'external_key_too_long'],
    ['externalKey=a&externalKey=b', 'repeated_parameter'],
    ['externalKey[]=a', 'unknown_parameter'],
    ['sort=-attention', 'sort_invalid'],
    ['sort=health', 'sort_invalid'],
    ['condition=TRUE', 'condition_invalid'],
    ['health=', 'health_invalid'],
    ['tag=', 'tag_required'],
    ['externalKey=a%00', 'external_key_invalid'],
    [`tag=${'x'.repeat(51)}`, 'tag_too_long'],
  ])('refuses ?%s', async (query, reason) => {
    const reply = await gateway.send('GET', `/api/notifications?${query}`);
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', reason));
  });

  it('has an index for each sort and for each filter by equality', () => {
    const sorts = ['createdAt', 'name', 'nextRunAt', 'attention'];
    for (const field of sorts) expect(tasksView.indexes).toContainEqual(['organizationId', field]);
    for (const field of ['status', 'condition', 'health']) {
      expect(tasksView.indexes).toContainEqual(['organizationId', field, 'createdAt']);
    }
    expect(tasksView.indexes).toContainEqual(['organizationId', 'externalKey', 'createdAt']);
  });
});
