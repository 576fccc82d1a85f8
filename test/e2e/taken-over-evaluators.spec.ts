/** Evaluators that hostile code has taken over, beside ordinary tasks: those go on, in the same process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import './kit/built.js';
import { createInstallation } from './kit/create-installation.js';
import { scratchFolder, type Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { whenInStock } from './kit/settings.js';
import { until } from './kit/until.js';

const ordinaryTasks = 3;
const resultsEach = 6;
const patienceMs = 60_000;

function keepWriting(socket: Socket, bytes: Buffer): void {
  socket.write(bytes, (error) => {
    if (error === undefined || error === null) keepWriting(socket, bytes);
  });
}

/** The first words of a frame: bytes of text, bytes of body, id, word, milliseconds. */
function head(...words: readonly number[]): Buffer {
  const bytes = Buffer.alloc(20);
  for (const [at, word] of words.entries()) bytes.writeUInt32LE(word, 4 * at);
  return bytes;
}

/** What code that holds an evaluator may say to the product from the moment it does. */
const deeds: Readonly<Record<string, (socket: Socket) => void>> = {
  'says nothing any more': () => undefined,
  'sends noise without end': (socket) => keepWriting(socket, Buffer.alloc(65_536, 0xa5)),
  'announces four gigabytes': (socket) => keepWriting(socket, head(0xffffffff, 0xffffffff, 1)),
  'answers jobs that nobody gave': (socket) => keepWriting(socket, head(0, 0, 0xfffffff0)),
  'answers each job with what is no result': (socket) => {
    for (let id = 1; id < 2_000; id += 1) socket.write(Buffer.concat([head(2, 0, id), Buffer.from('{{')]));
  },
  'hangs up': (socket) => socket.destroy(),
};
const names = Object.keys(deeds);

let folder: string;
let evaluators: ChildProcess;
let installation: Installation;
let site: PageSite;
let startedAt: string;
const doors: Server[] = [];
const sockets = new Set<Socket>();
const takenOver = new Map<string, number>();
const ordinary: string[] = [];
const hostile = new Map<string, string>();

/** Stands between the product and its evaluators. A page that says so takes its evaluator over. */
async function openDoor(use: string): Promise<void> {
  const server = createServer((client) => {
    const real = connect(join(folder, 'real', `${use}.sock`));
    for (const socket of [client, real]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    let isTaken = false;
    client.on('data', (chunk: Buffer) => {
      const deed = isTaken ? undefined : /take over: deed (\d)/.exec(chunk.toString('latin1'))?.[1];
      if (deed !== undefined) {
        isTaken = true;
        const name = names[Number(deed)] ?? '';
        takenOver.set(name, (takenOver.get(name) ?? 0) + 1);
        real.destroy();
        deeds[name]?.(client);
      }
      if (!isTaken) real.write(chunk);
    });
    real.on('data', (chunk: Buffer) => client.write(chunk));
    real.on('close', () => (isTaken ? undefined : client.destroy()));
    client.on('close', () => real.destroy());
  });
  server.listen(join(folder, 'door', `${use}.sock`));
  await once(server, 'listening');
  doors.push(server);
}

const processStart = async (): Promise<string> =>
  /^process_start_time_seconds (.+)$/m.exec((await installation.api.send('/metrics')).text)?.[1] ?? '';

beforeAll(async () => {
  [folder, site] = await Promise.all([scratchFolder(), startPageSite()]);
  site.serve('/shop', html('sold out'));
  await mkdir(join(folder, 'door'));
  const { PATH = '', HOME = '' } = process.env;
  const program = fileURLToPath(new URL('../../bin/meerkat.mjs', import.meta.url));
  evaluators = spawn(process.execPath, [program, 'evaluators'], {
    cwd: folder,
    env: { PATH, HOME, EVALUATOR_SOCKETS: join(folder, 'real') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [evaluators.stdout, evaluators.stderr]) stream?.on('data', (chunk) => (said += String(chunk)));
  await until('evaluators are there', () => said.includes('Evaluators are ready'));
  await Promise.all(['shared', 'quarantine'].map(openDoor));
  installation = await createInstallation({ settings: { EVALUATOR_SOCKETS: join(folder, 'door') } });
  await installation.start();
  startedAt = await processStart();
  for (let n = 0; n < ordinaryTasks; n += 1) {
    ordinary.push((await installation.api.create(whenInStock(site.address('/shop')))).id);
  }
  for (const [index, name] of names.entries()) {
    site.serve(`/deed-${index}`, html(`take over: deed ${index}`));
    const settings = { ...whenInStock(site.address(`/deed-${index}`)), name };
    hostile.set(name, (await installation.api.create(settings)).id);
  }
});

afterAll(async () => {
  await installation.remove();
  for (const socket of sockets) socket.destroy();
  await Promise.all(doors.map((door) => new Promise((resolve) => door.close(resolve))));
  evaluators.kill('SIGTERM');
  await once(evaluators, 'close');
  await Promise.all([site.close(), rm(folder, { recursive: true, force: true })]);
});

describe('an evaluator that was taken over', () => {
  it.each(names)('and that %s is ended, and its task has a failed run', async (name) => {
    const failed = await until(
      'its run fails',
      async () => {
        const runs = await installation.api.executions(hostile.get(name) ?? '');
        return runs.find(({ status }) => status === 'failed' || status === 'timed_out') ?? null;
      },
      patienceMs,
    );
    expect(takenOver.get(name)).toBeGreaterThan(0);
    expect([failed.outcome, failed.error?.reason, failed.decision?.notify]).toEqual([null, 'sandbox_crashed', false]);
  });

  it('keeps no ordinary task from its results', async () => {
    const beganAt = new Date().toISOString();
    for (const id of ordinary) {
      await until(
        'an ordinary task has its results',
        async () => {
          const runs = await installation.api.executions(id);
          const good = runs.filter(({ status, scheduledFor }) => status === 'succeeded' && scheduledFor > beganAt);
          return good.length >= resultsEach;
        },
        patienceMs,
      );
      const runs = await installation.api.executions(id);
      expect(runs.filter(({ error }) => error !== null)).toEqual([]);
    }
  });

  it('leaves the process as it was', async () => {
    expect(await processStart()).toBe(startedAt);
    expect((await installation.api.send('/healthz', { key: null })).status).toBe(200);
  });
});
