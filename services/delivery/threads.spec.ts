/** Messages of one episode, one after the other: what a service gave for the first is in those that follow. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { KitRequest } from './delivery.kit.js';
import { answerWith, type HttpReceiver } from './delivery.kit.js';
import { WorkerKit } from './worker.kit.js';
import type { DeliveryWorker } from './worker.js';

let kit: WorkerKit;
let worker: DeliveryWorker;

beforeEach(() => {
  kit = new WorkerKit();
  worker = kit.start();
});
afterEach(() => kit.close());

async function delivered(options: KitRequest): Promise<void> {
  await kit.harness.untilState(await kit.ask(worker, options), 'delivered');
}

const bodiesOf = (receiver: HttpReceiver): unknown[] =>
  receiver.received.map(({ body }): unknown => (body === '' ? null : JSON.parse(body)));

describe('a message that says that it is over', () => {
  it('goes under the post that began it', async () => {
    const [receiver, serverUrl] = await kit.receiver(
      answerWith(201, '{"id":"k3m5n7p9q1r3s5t7v9w1x3y5z7","root_id":""}'),
    );
    const config = { serverUrl, token: '9f8e7d6c5b4a3f2e1d0c9b8a7f', channelId: '4xp9fdt77pncbef59f4k1qe83o' };
    const mattermost = { type: 'mattermost', config } as const;
    await delivered({ ...mattermost, name: 'triggered' });
    await delivered({ ...mattermost, name: 'recovered', kind: 'recovered' });
    await delivered({ ...mattermost, name: 'another', episode: 'condition:2' });
    expect(bodiesOf(receiver).map((body) => Reflect.get(Object(body), 'root_id') as unknown)).toEqual([
      undefined,
      'k3m5n7p9q1r3s5t7v9w1x3y5z7',
      undefined,
    ]);
  });

  it('comments on the issue that was made, and closes it by the transition that the issue has', async () => {
    const transitions = { transitions: [{ id: '31', name: 'Done', to: { statusCategory: { key: 'done' } } }] };
    const [receiver, serverUrl] = await kit.receiver(
      answerWith(201, '{"id":"1","key":"OPS-24"}'),
      answerWith(201, '{"id":"2"}'),
      answerWith(200, JSON.stringify(transitions)),
      answerWith(204),
    );
    const config = { serverUrl, email: 'watch@example.com', apiToken: 'ATATT3xFfGF0aB3dE5gH7', projectKey: 'OPS' };
    await delivered({ type: 'jira', config, name: 'triggered' });
    await delivered({ type: 'jira', config, name: 'recovered', kind: 'recovered' });
    expect(receiver.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /rest/api/3/issue',
      'POST /rest/api/3/issue/OPS-24/comment',
      'GET /rest/api/3/issue/OPS-24?fields=status&expand=transitions',
      'POST /rest/api/3/issue/OPS-24/transitions',
    ]);
    expect(bodiesOf(receiver).at(-1)).toEqual({ transition: { id: '31' } });
  });

  it('goes on after a fault where it stopped: nothing is said twice', async () => {
    const [receiver, serverUrl] = await kit.receiver(
      answerWith(201, '{"number":7}'),
      answerWith(201, '{"id":1}'),
      answerWith(503),
      answerWith(200, '{"number":7}'),
    );
    const config = { serverUrl, repository: 'octo-org/shop', token: 'github_pat_11ABCDEFG0' };
    await delivered({ type: 'github_issue', config, name: 'triggered' });
    const id = await kit.ask(worker, { type: 'github_issue', config, name: 'recovered', kind: 'recovered' });
    kit.whenDue(worker, await kit.harness.untilState(id, 'retrying'));
    await kit.harness.untilState(id, 'delivered');
    expect(receiver.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /repos/octo-org/shop/issues',
      'POST /repos/octo-org/shop/issues/7/comments',
      'PATCH /repos/octo-org/shop/issues/7',
      'PATCH /repos/octo-org/shop/issues/7',
    ]);
  });
});
