/** What `meerkat check` says of the messages of a task, and of what nobody hears. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { call, type Called } from '../cli.kit.js';

const environment = { ...process.env };
let folder: string;
let site: Server;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-check-spec-'));
  site = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<title>Shop</title>');
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  process.env['DATA_DIR'] = join(folder, 'data');
  process.env['EGRESS_ALLOW'] = '127.0.0.1/32';
});
afterAll(async () => {
  process.env = { ...environment };
  site.closeAllConnections();
  site.close();
  await once(site, 'close');
  await rm(folder, { recursive: true, force: true });
});

async function check(fields: object, ...options: string[]): Promise<Called> {
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const file = join(folder, 'task.json');
  await writeFile(file, JSON.stringify({ name: 'Price', url, evaluationFunction: 'return true', ...fields }));
  return call('check', file, ...options);
}

describe('the command check', () => {
  const hook = { type: 'webhook', config: { url: 'https://hooks.example/in' } };

  it('says what nobody hears of, whatever the outcome, as saving the task does', async () => {
    const nobody = /^ {2}warning +actions: No action is enabled: .*nobody hears of anything\.$/m;
    expect((await check({ evaluationFunction: 'return false' })).out).toMatch(nobody);
    expect((await check({ actions: [{ ...hook, enabled: false }] })).out).toMatch(nobody);
    expect((await check({ actions: [{ ...hook, on: ['triggered'] }] })).out).toMatch(
      /^ {2}warning .*nobody is told when the page/m,
    );
    expect((await check({ actions: [hook] })).out).not.toContain('warning');
    const { out } = await check({ evaluationFunction: 'return false' }, '--json');
    expect(JSON.parse(out)).toMatchObject({ warnings: [{ field: 'actions', rule: 'nobody_listens' }] });
  });

  it.each([
    ['a condition that is not met', 'return false', {}, 'once the condition is met', 'the condition became true.'],
    [
      'a value',
      'page.report("value", 7); return true',
      { notifyOn: 'changed' },
      'once the value changes',
      'changed from 7 to another.',
    ],
    ['an outcome', 'return true', { notifyOn: 'changed' }, 'once the outcome changes', 'changed from true to false.'],
    [
      'confirmations',
      'return true',
      { confirmations: 3 },
      'once 3 runs in a row are true',
      'the condition became true.',
    ],
    ['errors', 'return 7', {}, 'once 3 runs in a row have failed', 'cannot be checked'],
    [
      'a muted task',
      'return true',
      { muted: true },
      'once nothing holds it back (muted)',
      'the condition became true.',
    ],
  ])('says when a message of %s goes out that a first run does not send', async (_, code, policy, once, said) => {
    const { out } = await check({ evaluationFunction: code, policy, actions: [hook] });
    const [, head = '', message = ''] = /^ {2}What goes out (.*):\n(.*)/ms.exec(out) ?? [];
    expect(head).toBe(once);
    expect(message).toContain(said);
  });

  it('says nothing of a later time where a first run sends the message', async () => {
    const { out } = await check({ actions: [hook] });
    expect(out).toContain('"Price": the condition became true.');
    expect(out).not.toContain('What goes out');
  });

  it('takes one task, and says what takes a configuration of several', async () => {
    const { exitCode, error } = await check({ notifications: [] });
    expect([exitCode, error]).toEqual([1, expect.stringMatching(/is a configuration of several tasks.+meerkat diff /)]);
  });
});
