/** `meerkat check` as it is typed: the built program, a live page, an exit code. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import '../kit/built.js';
import { html, startPageSite, type PageSite } from '../kit/page-site.js';

const program = fileURLToPath(new URL('../../../bin/meerkat.mjs', import.meta.url));
let folder: string;
let site: PageSite;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-check-spec-'));
  site = await startPageSite();
  site.serve('/shop', html('in stock'));
});
afterAll(async () => {
  await site.close();
  await rm(folder, { recursive: true, force: true });
});

interface Ended {
  readonly exitCode: number | null;
  readonly out: string;
  readonly error: string;
}

async function check(task: object, ...options: string[]): Promise<Ended> {
  await writeFile(join(folder, 'task.json'), JSON.stringify(task));
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [program, 'check', 'task.json', ...options], {
    cwd: folder,
    env: { PATH, HOME, EGRESS_ALLOW: '127.0.0.1/32', TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, error] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (error += chunk));
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { exitCode, out, error };
}

const taskOf = (evaluationFunction: string): object => ({
  name: 'In stock',
  url: site.address('/shop'),
  evaluationFunction,
});

describe('meerkat check', () => {
  it('runs the task once against its live page, prints the result, and stores nothing', async () => {
    const loads = site.loads('/shop');
    const { exitCode, out, error } = await check(
      taskOf(`return document.querySelector('#stock').textContent === 'in stock'`),
    );
    expect(error).toBe('');
    expect(out).toMatch(/^true {2}In stock$/m);
    expect(exitCode).toBe(0);
    expect(site.loads('/shop')).toBe(loads + 1);
    expect(await readdir(folder)).toEqual(['task.json']);
  });

  it('shows the messages as they would be sent', async () => {
    const config = { url: site.address('/in'), body: 'Now: {{ value }}' };
    const code = `page.report('value', 'in stock'); return true`;
    const task = { ...taskOf(code), actions: [{ type: 'webhook', config }] };
    const { exitCode, out } = await check(task);
    expect(out).toContain(`webhook, triggered, POST ${site.address('/in')}`);
    expect(out).toMatch(/^ {4}Now: in stock$/m);
    expect(exitCode).toBe(0);
    const { out: asJson } = await check(task, '--json');
    expect(JSON.parse(asJson)).toMatchObject({ messages: [{ text: 'Now: in stock' }] });
    expect(site.loads('/in')).toBe(0);
  });

  it('exits with 1 and the place where the code failed', async () => {
    const { exitCode, out } = await check(taskOf(`const a = 1;\nthrow new Error('no ' + a)`));
    expect(exitCode).toBe(1);
    expect(out).toContain("  2 | throw new Error('no ' + a)");
  });

  it('exits with 1 for code that never ends', async () => {
    const { exitCode, out } = await check(taskOf('for (;;) {}'), '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ status: 'failed', error: { reason: 'cpu_limit' } });
  });
});
