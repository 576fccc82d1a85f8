import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, type GatewayKit, idOf, member, refused } from '../gateway.kit.js';
import { openGateway, type OpenedGateway } from '../opened-gateway.kit.js';
import { changesOf } from './changes.js';
import type { Frame } from './frames.js';
import { StreamReader, type ReaderWants } from './stream-reader.js';

const organizationId = 'org_00000000000000000000000001';
const frame = (name: string, more: Partial<Frame> = {}): Frame => ({
  kind: 'task',
  notificationId: name,
  event: 'task',
  data: JSON.stringify({ name }),
  ...more,
});
const wants: ReaderWants = { organizationId, kinds: ['task', 'delivery'], notificationId: null };

function reader(more: Partial<ReaderWants> = {}): StreamReader {
  const begun = new StreamReader({ ...wants, ...more });
  begun.begin([]);
  return begun;
}

/** All that it gives until it has nothing more. */
function readAll({ body }: StreamReader): string {
  let text = '';
  for (let chunk = body.read() as Buffer | null; chunk !== null; chunk = body.read() as Buffer | null) {
    text += chunk.toString();
  }
  return text;
}

describe('a reader of the stream', () => {
  it('gets the frames that it wants, the last one of a step with the place to go on from', () => {
    const one = reader({ notificationId: 'a' });
    one.take([frame('a'), frame('b'), frame('a', { kind: 'execution' }), frame('a', { event: 'removed' })], 7);
    expect(readAll(one)).toBe('event: task\ndata: {"name":"a"}\n\nid: 7\nevent: removed\ndata: {"name":"a"}\n\n');
  });

  it('that takes nothing gets one gap in place of more than a thousand frames, and what comes after it', () => {
    const slow = reader();
    for (let at = 0; at < 3_000; at += 1) slow.take([frame(`x${at}`)], at);
    const text = readAll(slow);
    expect(text.match(/event: gap/g)).toHaveLength(1);
    expect(text.length).toBeLessThan(200_000);
    slow.take([frame('after')], 3_000);
    expect(readAll(slow)).toContain('"after"');
  });

  it('that takes nothing gets one gap in place of more than a megabyte', () => {
    const slow = reader();
    for (let at = 0; at < 50; at += 1) slow.take([frame('y'.repeat(100_000))], at);
    const text = readAll(slow);
    expect(text.match(/event: gap/g)).toHaveLength(1);
    expect(text.length).toBeLessThan(1_300_000);
  });

  it('gets what it missed before what came meanwhile', () => {
    const late = new StreamReader(wants);
    late.take([frame('new')], 9);
    expect(readAll(late)).toBe('');
    late.begin(late.render([frame('first'), frame('second')], 8));
    expect([...readAll(late).matchAll(/"name":"(\w+)"/g)].map(([, name]) => name)).toEqual(['first', 'second', 'new']);
  });

  it('gets one gap where more came than it may leave waiting, while it was caught up', () => {
    const late = new StreamReader(wants);
    for (let at = 0; at < 20; at += 1) late.take([frame('z'.repeat(100_000))], at);
    late.begin(late.render([frame('first')], 1));
    expect(readAll(late)).toMatch(/"first"[^]*event: gap\ndata: {}\n\n$/);
  });

  it('is told by a comment where to go on while nothing comes', () => {
    const idle = reader();
    idle.beat(12);
    expect(readAll(idle)).toBe(': \nid: 12\n\n');
  });
});

describe('an event', () => {
  const event = (stream: string, data: object) =>
    ({ stream, data, type: 'x', id: '', revision: 0, position: 0, metadata: {} }) as never;

  it('changes the documents of its task, its run and its delivery', () => {
    expect(changesOf(event('task-ntf_1', {}))).toEqual([{ kind: 'task', id: 'ntf_1' }]);
    expect(changesOf(event('dlv-dlv_1', {}))).toEqual([{ kind: 'delivery', id: 'dlv_1' }]);
    expect(changesOf(event('claim-exe_1', { run: { runId: 'exe_1' } }))).toEqual([{ kind: 'execution', id: 'exe_1' }]);
    for (const data of [{ run: { runId: 'exe_1' } }, { result: { runId: 'exe_1' } }]) {
      expect(changesOf(event('run-ntf_1', data))).toEqual([
        { kind: 'task', id: 'ntf_1' },
        { kind: 'execution', id: 'exe_1' },
      ]);
    }
  });
});

describe('the stream over HTTP', () => {
  let opened: OpenedGateway;
  let gateway: GatewayKit;

  beforeAll(async () => {
    opened = await openGateway();
    ({ gateway } = opened);
  });

  afterAll(() => opened.close());

  it.each(['types=colour', 'types=', 'types=task,,delivery', 'notificationId=x', 'since=1'])(
    'refuses %s',
    async (query) => {
      expect((await gateway.send('GET', `/api/stream?${query}`)).status).toBe(400);
    },
  );

  it('says which types there are', async () => {
    const { body } = await gateway.send('GET', '/api/stream?types=task,colour');
    const message = 'must name some of task, execution, delivery';
    expect(member(body, 'error')).toMatchObject({
      reason: 'types_invalid',
      details: [{ field: 'types', rule: 'invalid', message }],
    });
  });

  it('knows no task of another organisation, and takes no other method', async () => {
    const other = await gateway.addKey(await gateway.addOrganization('enterprise'), ['read']);
    const id = idOf(await opened.create());
    const reply = await gateway.send('GET', `/api/stream?notificationId=${id}`, { key: other });
    expect(errorOf(reply)).toEqual(refused(404, 'NOT_FOUND', 'not_found'));
    expect((await gateway.send('POST', '/api/stream')).status).toBe(405);
    expect((await gateway.send('GET', '/api/stream', { key: null })).status).toBe(401);
  });
});
