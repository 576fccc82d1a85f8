/** What the README and the first page of the guide tell a newcomer to type works as it stands, in the order it stands there. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createInstallation } from './kit/create-installation.js';
import { curlCommands, toRequest } from './kit/curl.js';
import { startHookSink, verified, type HookSink } from './kit/hook-sink.js';
import type { Installation } from './kit/installation.js';
import { answering, startPageSite, type PageSite } from './kit/page-site.js';
import { until } from './kit/until.js';

const created = z.object({
  data: z.object({
    id: z.string().startsWith('ntf_'),
    actions: z.array(z.object({ config: z.object({ secret: z.string() }) })),
  }),
});
const run = z.object({
  data: z.object({ outcome: z.boolean(), decision: z.object({ notify: z.boolean(), reason: z.string() }) }),
});

let installation: Installation;
let site: PageSite;
let hooks: HookSink;

beforeAll(async () => {
  [site, hooks] = await Promise.all([startPageSite(), startHookSink()]);
  site.serve('/', answering(200, '<!doctype html><title>Example</title><h1>Example Domain</h1>'));
  site.serve('/kettle', answering(200, '<!doctype html><title>Kettle</title><p class="price">39,90 €</p>'));
  installation = await createInstallation();
  await installation.start();
});

afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), hooks.close()]);
});

/** Types one command after the other; `<id>` is the task that the last one created. What each was answered. */
async function type(page: string, hookPath: string): Promise<{ readonly secret: string; readonly bodies: unknown[] }> {
  const commands = curlCommands(await readFile(new URL(`../../${page}`, import.meta.url), 'utf8'));
  const bodies: unknown[] = [];
  let [id, secret] = ['', ''];
  for (const command of commands) {
    const here = command
      .replaceAll('http://localhost:3000', installation.url)
      .replaceAll('https://shop.example/kettle', site.address('/kettle'))
      .replaceAll('https://example.com/', site.address('/'))
      .replaceAll('https://hooks.example.com/meerkat', hooks.address(hookPath))
      .replaceAll('http://127.0.0.1:8080/', hooks.address(hookPath))
      .replaceAll('<id>', id);
    const { url, method, headers, body } = toRequest(here, { KEY: installation.apiKey });
    const answer = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
    const text = await answer.text();
    expect([command, answer.ok, answer.ok || text]).toEqual([command, true, true]);
    bodies.push(JSON.parse(text));
    const task = created.safeParse(bodies.at(-1));
    if (id === '' && task.success)
      [id, secret] = [task.data.data.id, task.data.data.actions[0]?.config.secret ?? secret];
  }
  return { secret, bodies };
}

const said = (stream: Readable): Promise<string> =>
  new Promise((resolve) => stream.setEncoding('utf8').once('data', (text: string) => resolve(text)));

describe('the documentation for newcomers', () => {
  it('README.md: the receiver prints the message, at the address that the task has', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    const [, receiver = ''] = /^```sh\n(node -e .+)\n```$/m.exec(readme) ?? [];
    expect(receiver).toContain(".listen(8080, '127.0.0.1')");
    expect(curlCommands(readme)[0]).toContain('"url": "http://127.0.0.1:8080/"');
    // At a free port, which it tells.
    const here = receiver.replace(
      "8080, '127.0.0.1'",
      "0, '127.0.0.1', function () { console.error(this.address().port) }",
    );
    const child = spawn('sh', ['-c', `exec ${here}`], { stdio: ['ignore', 'pipe', 'pipe'] });
    try {
      const port = (await said(child.stderr)).trim();
      const printed = said(child.stdout);
      const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'a message' });
      expect([answer.status, await printed]).toEqual([200, 'a message']);
    } finally {
      child.kill();
    }
  });

  it.each([
    { page: 'README.md', commands: 2, runs: 0, path: '/readme' },
    { page: 'docs/guide/first-task.md', commands: 7, runs: 2, path: '/guide' },
  ])('$page: each command is answered, and the message arrives', async ({ page, commands, runs: waited, path }) => {
    const { secret, bodies } = await type(page, path);
    expect(bodies).toHaveLength(commands);
    const hook = await until('the webhook is there', () => hooks.received(path)[0] ?? null);
    expect(verified(hook, secret)).toMatchObject({ type: 'notification.triggered' });
    const runs = bodies.flatMap((body) => {
      const found = run.safeParse(body);
      return found.success ? [found.data.data] : [];
    });
    expect(runs).toHaveLength(waited);
    for (const { outcome } of runs) expect(outcome).toBe(true);
  });
});
