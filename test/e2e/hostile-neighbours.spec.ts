/** Every hostile task and client at once, beside ordinary tasks: those go on, and each offender is named. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { whenInStock } from './kit/settings.js';
import { until } from './kit/until.js';

const ordinaryTasks = 4;
const resultsEach = 8;
/** Longer than both tests may take: it is ended behind them, so that no result is of a time after it. */
const attackSeconds = 300;
const longestWaitMs = 100_000;

const listed = z.object({
  data: z.array(z.object({ id: z.string(), name: z.string() })),
  pagination: z.object({ pages: z.int() }),
});

let installation: Installation;
let site: PageSite;
let attack: ChildProcess;
const ordinary: string[] = [];
let startedAt: string;

/** When the process that answers was started, as it says itself. */
async function processStart(): Promise<string> {
  const { text } = await installation.api.send('/metrics');
  return /^process_start_time_seconds (.+)$/m.exec(text)?.[1] ?? '';
}

beforeAll(async () => {
  site = await startPageSite();
  site.serve('/shop', html('sold out'));
  installation = await createInstallation();
  await installation.start();
  startedAt = await processStart();
  for (let n = 0; n < ordinaryTasks; n += 1) {
    ordinary.push((await installation.api.create(whenInStock(site.address('/shop')))).id);
  }
  const script = fileURLToPath(new URL('../bench/hostile-neighbours.mjs', import.meta.url));
  const settings = { url: installation.url, key: installation.apiKey, seconds: attackSeconds };
  attack = spawn(process.execPath, [script, JSON.stringify(settings)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  attack.stdout?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  await until('all of it attacks', () => output.includes('attacking'));
});

afterAll(async () => {
  if (attack.exitCode === null && attack.signalCode === null) {
    attack.kill('SIGKILL');
    await once(attack, 'close');
  }
  await installation.remove();
  await site.close();
});

/** The tasks of the attack, by name. */
async function hostileTasks(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { body } = await installation.api.send(`/api/notifications?q=hostile&limit=100&page=${page}`);
    const { data, pagination } = listed.parse(body);
    for (const { id, name } of data) found.set(name.replace('hostile: ', ''), id);
    ({ pages } = pagination);
  }
  return found;
}

describe('ordinary tasks beside hostile ones', () => {
  it('are run slot by slot while everything attacks', async () => {
    const beganAt = new Date().toISOString();
    await until(
      'every ordinary task has its results',
      async () => {
        const results = await Promise.all(ordinary.map((id) => installation.api.executions(id)));
        return results.every(
          (runs) =>
            runs.filter(({ status, scheduledFor }) => status === 'succeeded' && scheduledFor > beganAt).length >=
            resultsEach,
        );
      },
      longestWaitMs,
    );
    expect(attack.exitCode).toBeNull();
    for (const id of ordinary) {
      const runs = await installation.api.executions(id);
      expect(runs.filter(({ error }) => error !== null)).toEqual([]);
    }
  });

  it('are in a process that lives and answers, each offender named by what stopped it', async () => {
    const tasks = await hostileTasks();
    const reasonOf = (name: string): Promise<string> =>
      until(`${name} has a result`, async () => {
        const runs = await installation.api.executions(tasks.get(name) ?? '');
        return runs.map(({ error }) => error?.reason).find((reason) => reason !== undefined);
      });
    expect({
      endless: await reasonOf('endless code'),
      memory: await reasonOf('memory'),
      values: await reasonOf('large values'),
      nested: await reasonOf('nested values'),
      slow: await reasonOf('slow site 0'),
    }).toEqual({
      endless: 'cpu_limit',
      memory: 'memory_limit',
      values: 'output_limit',
      nested: 'output_limit',
      slow: 'timed_out',
    });
    const dead = await reasonOf('dead origin 7');
    expect(['connect_failed', 'own_network']).toContain(dead);
    expect(await processStart()).toBe(startedAt);
  });
});
