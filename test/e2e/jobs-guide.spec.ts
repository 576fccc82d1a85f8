/** Every task of docs/guide/jobs.md is made as it stands, its page is played, and what is decided is what the page promises. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { RequestListener, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseYamlBody } from '#http/yaml';
import { serveHttps, testCertificate, type Loopback } from '#outbound/loopback.contract';
import { meerkat } from './kit/command.js';
import { createInstallation } from './kit/create-installation.js';
import { curlCommands, toRequest } from './kit/curl.js';
import type { Installation } from './kit/installation.js';
import { answering } from './kit/page-site.js';
import { until } from './kit/until.js';
import { startWorld, type World } from './kit/watch.js';

type Task = Record<string, unknown>;

/** A page, and what the run on it decides: a reason, or that of an error. */
type Step = readonly [page: RequestListener, decided: string];

const html = (body: string): RequestListener => answering(200, `<!doctype html><title>Page</title>${body}`);
const json =
  (value: unknown): RequestListener =>
  (_request, response) =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
const xml =
  (title: string): RequestListener =>
  (_request, response) =>
    void response
      .setHeader('content-type', 'application/rss+xml')
      .end(`<?xml version="1.0"?><rss><channel><item><title>${title}</title></item></channel></rss>`);
const price = (text: string): RequestListener => html(`<p class="price">${text}</p>`);
const queue = (waiting: number): RequestListener => json({ waiting });
const jobs = (...titles: readonly string[]): RequestListener =>
  html(titles.map((title) => `<div class="job"><h2>${title}</h2></div>`).join(''));
const departures = (late: string): RequestListener =>
  html(`<table><tr><td>S 1<td>8:00<td>+1</tr><tr><td>RE 7<td>8:04<td>${late}</tr></table>`);

const members: RequestListener = (request, response) => {
  const expected = `Basic ${Buffer.from('ada:a password').toString('base64')}`;
  const isGood = request.headers.authorization === expected;
  response.writeHead(isGood ? 200 : 401, { 'content-type': 'text/html' }).end('<title>Members</title>');
};
const search: RequestListener = (request, response) => {
  const isForm = request.headers['content-type'] === 'application/x-www-form-urlencoded';
  let sent = '';
  request.on('data', (chunk: Buffer) => (sent += chunk.toString()));
  request.on('end', () => {
    const found = isForm && sent === 'city=Berlin&persons=2' ? '<p class="date">1 May</p>' : '';
    response.setHeader('content-type', 'text/html').end(found);
  });
};
const report: RequestListener = html('<h1>Report</h1>');

const stories: Readonly<Record<string, readonly Step[]>> = {
  'A price falls below a limit': [
    [price('49,90 €'), 'not_true'],
    [price('39,90 €'), 'became_true'],
    [price('39,80 €'), 'still_true'],
    [html('nothing'), 'error_below_threshold'],
  ],
  'Something is back in stock': [
    [html('<button name=add disabled>Add</button>'), 'not_true'],
    [html('<button name=add>Add</button>'), 'became_true'],
  ],
  'A new item is in a list': [
    [jobs('Cook'), 'not_true'],
    [jobs('Cook', 'Baker'), 'every_true'],
    // What is over again is told to those who listen to it, and nobody does.
    [jobs('Baker', 'Cook'), 'no_actions'],
    [jobs('Baker', 'Brewer'), 'every_true'],
  ],
  'A field of a JSON answer': [
    [queue(7), 'not_true'],
    [queue(101), 'became_true'],
  ],
  'A feed has a new entry': [
    [xml('1.0'), 'not_changed'],
    [xml('1.0'), 'not_changed'],
    [xml('1.1'), 'changed'],
  ],
  'A page answers with another status': [
    [answering(200, 'fine'), 'not_true'],
    [answering(503, 'maintenance'), 'became_true'],
    [answering(404, 'gone'), 'error_below_threshold'],
  ],
  'A text is gone': [
    [html('Only today'), 'not_true'],
    [html('Over'), 'awaiting_confirmation'],
    [html('Over'), 'became_true'],
  ],
  'A cell of a table': [
    [departures('+2'), 'not_true'],
    [departures('+12 min'), 'became_true'],
  ],
  'A page behind a user name and password': [[members, 'became_true']],
  'The answer to a form': [[search, 'became_true']],
  'Numbers as other countries write them': [
    [html('<p class=preis>1.349 €</p>'), 'not_true'],
    [html('<p class=preis>1.299 €</p>'), 'became_true'],
  ],
  'A slow page': [[report, 'became_true']],
  'A page is down': [
    [answering(404, 'x'), 'error_below_threshold'],
    [answering(404, 'x'), 'error_below_threshold'],
    [answering(404, 'x'), 'error_threshold'],
    [html('up'), 'recovered'],
  ],
  'A value that flaps': [
    ...Array.from({ length: 6 }, (_, index): Step => [queue(index % 2 === 0 ? 7 : 101), '']),
    [queue(7), 'flapping'],
  ],
  'Only on weekdays': [[price('39,90 €'), '']],
  'Sure of it twice': [
    [html('on sale'), 'awaiting_confirmation'],
    [html('on sale'), 'became_true'],
  ],
  'Several messages as one': [
    [html('<h1>One</h1>'), 'not_changed'],
    [html('<h1>Two</h1>'), 'changed'],
    [html('<h1>Three</h1>'), 'changed'],
  ],
  'Into a chat': [[html('<button name=add>Add</button>'), 'became_true']],
  'A mail to a group': [[price('39,90 €'), 'became_true']],
  'A page that scripts fill': [
    [json({ flights: [{ to: 'LIS', price: 180 }] }), 'not_true'],
    [json({ flights: [{ to: 'LIS', price: 80 }] }), 'became_true'],
  ],
  'Compared with the last time': [
    [html('<p class=count>12 reviews</p>'), 'not_true'],
    [html('<p class=count>13 reviews</p>'), 'every_true'],
    [html('<p class=count>13 reviews</p>'), 'no_actions'],
  ],
  'A change of so many per cent': [
    [price('$50.00'), 'not_true'],
    [price('$46.00'), 'not_true'],
    [price('$44.99'), 'became_true'],
  ],
};

let world: World;
let secure: Loopback;
let installation: Installation;
let intro: string;
let sections: ReadonlyMap<string, string>;

beforeAll(async () => {
  world = await startWorld();
  secure = await serveHttps((_request, response) => response.end('fine'));
  const text = await readFile(new URL('../../docs/guide/jobs.md', import.meta.url), 'utf8');
  const [first = '', ...others] = text.split(/^## /m);
  intro = first;
  sections = new Map(others.map((section) => [section.slice(0, section.indexOf('\n')), section]));
  installation = await createInstallation({ smtpUrl: world.mails.url });
  await installation.start();
});

afterAll(async () => {
  await installation.remove();
  await Promise.all([world.close(), secure.close()]);
});

/** The task of a section, as the file has it, but for where its page and its receivers are. */
function taskIn(title: string): Task {
  const [, block = ''] = /^```yaml\n([^]*?)^```$/m.exec(sections.get(title) ?? '') ?? [];
  const here = block
    .replace(/https:\/\/hooks\.example\.com(\/\w+)/g, (_, path: string) => world.hooks.address(path))
    .replace('digestSeconds: 3600', 'digestSeconds: 20');
  const task = parseYamlBody(Buffer.from(here)) as Task;
  const fallback = [{ type: 'webhook', config: { url: world.hooks.address('/jobs') } }];
  return { actions: fallback, ...task, url: world.site.address(pathOf(title)) };
}

const pathOf = (title: string): string => `/${title.toLowerCase().replace(/\W+/g, '-')}`;

describe('the page of jobs', () => {
  it('has the twenty-five, each with a story here', () => {
    const told = [...Object.keys(stories), 'A certificate ends soon'];
    const asked = ['What it was, and when', 'All tasks as a file, and back'];
    expect([...sections.keys()].toSorted()).toEqual([...told, ...asked].toSorted());
    expect(sections.size).toBe(25);
  });

  it('shows how several stand in one file, which apply takes', async () => {
    const [, block = ''] = /^```yaml\n([^]*?)^```$/m.exec(intro) ?? [];
    const asked = { MEERKAT_URL: installation.url, MEERKAT_API_KEY: installation.apiKey };
    const folder = await mkdtemp(join(tmpdir(), 'meerkat-jobs-guide-'));
    try {
      await writeFile(join(folder, 'jobs.yaml'), block);
      const { exitCode, out, error } = await meerkat(['apply', 'jobs.yaml', '--dry-run'], asked, folder);
      expect([exitCode, out, error]).toEqual([0, '+ lamp\n+ kettle\n', error]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it.each(Object.keys(stories))('has a task for the job "%s" that decides as it promises', async (title) => {
    const { api } = installation;
    const created = await api.create({ ...taskIn(title), schedule: { type: 'manual' } });
    for (const [index, [page, decided]] of (stories[title] ?? []).entries()) {
      world.site.serve(pathOf(title), page);
      const run = await api.execute(created.id, 60);
      if (decided !== '') expect([index, run.decision?.reason, run.error]).toEqual([index, decided, run.error]);
    }
  });

  it('waits for a slow page when a task that waits a second has given it up', async () => {
    const { api } = installation;
    const title = 'A slow page';
    const waiting: ServerResponse[] = [];
    world.site.serve(pathOf(title), (_request, response) => void waiting.push(response));
    const patient = await api.create({ ...taskIn(title), schedule: { type: 'manual' } });
    const hasty = { ...taskIn(title), fetch: { timeoutSeconds: 1 }, schedule: { type: 'manual' } };
    const waited = api.execute(patient.id, 60);
    await until('it waits', () => waiting.length > 0);
    expect((await api.execute((await api.create(hasty)).id, 30)).error).toMatchObject({ reason: 'timed_out' });
    for (const response of waiting) response.setHeader('content-type', 'text/html').end('<h1>Report</h1>');
    expect((await waited).decision).toMatchObject({ reason: 'became_true' });
  });

  it('watches the certificate of a page', async () => {
    const task = { ...taskIn('A certificate ends soon'), url: secure.origin, fetch: { tls: { ca: testCertificate } } };
    const reply = await installation.api.send('/api/notifications/test', { method: 'POST', json: task });
    expect(reply.body).toMatchObject({ data: { outcome: false, values: { value: expect.any(Number) } } });
  });

  it('keeps to weekdays', async () => {
    const { schedule } = taskIn('Only on weekdays');
    const reply = await installation.api.send('/api/schedules/preview?count=100', { method: 'POST', json: schedule });
    const { runs } = (reply.body as { data: { runs: string[] } }).data;
    const day = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'Europe/Berlin' });
    expect(runs).toHaveLength(100);
    expect(runs.filter((at) => /S/.test(day.format(new Date(at))))).toEqual([]);
  });

  it('reaches a chat, and everybody of a group', async () => {
    const hook = await until('the chat is told', () => world.hooks.received('/team').at(-1) ?? false);
    expect(JSON.parse(hook.body)).toEqual({ text: expect.stringContaining('/executions/exe_') });
    const all = ['ada@example.com', 'archive@example.com', 'grace@example.com'];
    // A mail for each: whether it arrives is known of everybody.
    await until('the mails are there', () =>
      all.every((address) => world.mails.received.some(({ recipients }) => recipients.includes(address))),
    );
  });

  it('gathers what changed into one message', async () => {
    const hook = await until('the digest is there', () => world.hooks.received('/digest').at(-1) ?? false);
    expect(JSON.parse(hook.body)).toMatchObject({ type: 'notification.digest', data: { items: { length: 2 } } });
    expect(world.hooks.received('/digest')).toHaveLength(1);
  });

  it('writes all tasks into a file from a terminal, which changes nothing as it is, and one thing where it was edited', async () => {
    const asked = { MEERKAT_URL: installation.url, MEERKAT_API_KEY: installation.apiKey };
    const folder = await mkdtemp(join(tmpdir(), 'meerkat-jobs-guide-'));
    const typed = async (command: string): Promise<string> => {
      expect(sections.get('All tasks as a file, and back')).toContain(`\`meerkat ${command}`);
      const { exitCode, out, error } = await meerkat(command.replace(' > tasks.yaml', '').split(' '), asked, folder);
      expect([command, exitCode, error]).toEqual([command, 0, error]);
      return out;
    };
    try {
      const { id } = await installation.api.create({ ...taskIn('A text is gone'), schedule: { type: 'manual' } });
      const file = join(folder, 'tasks.yaml');
      const exported = await typed('export > tasks.yaml');
      await writeFile(file, exported);
      expect(await typed('apply tasks.yaml --dry-run')).toBe('');
      await writeFile(file, exported.replace(`externalKey: ${id}`, `$&\n    description: edited`));
      expect(await typed('apply tasks.yaml --dry-run')).toBe(`~ ${id}\n    description: "" → "edited"\n`);
      await typed('apply tasks.yaml');
      const { body } = await installation.api.send(`/api/notifications/${id}`);
      expect(body).toMatchObject({ data: { description: 'edited' } });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('has commands that are answered', async () => {
    const { id } = await installation.api.create({
      ...taskIn('A field of a JSON answer'),
      schedule: { type: 'manual' },
    });
    world.site.serve(pathOf('A field of a JSON answer'), queue(7));
    await installation.api.execute(id, 30);
    const commands = ['What it was, and when', 'All tasks as a file, and back'].flatMap((title) =>
      curlCommands(sections.get(title) ?? '').flatMap((block) => block.trim().split('\n')),
    );
    expect(commands).toHaveLength(5);
    for (const command of commands) {
      const here = command.replace('http://localhost:3000', installation.url).replace('<id>', id);
      const { url, method, headers } = toRequest(here, { KEY: installation.apiKey });
      const answer = await fetch(url, { method, headers });
      expect([command, answer.status]).toEqual([command, 200]);
    }
  });
});
