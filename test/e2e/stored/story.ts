/**
 * The story that the stored installations of this folder were made by: every kind of event, view and secret once, by HTTP
 * alone, against a product that already runs. `node test/e2e/stored/story.ts <url> <api key> <answers.json>`; README.md says
 * how the product is started. When it is through, nothing is due and nothing is on its way.
 */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';

/** Addresses are part of what is stored, so they are the same each time: below the ports that systems give out. */
export const sitePort = 18_411;
export const mailPort = 18_412;
export const webhookSecret = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;

interface Answer {
  readonly status: number;
  readonly text: string;
}

const [, , baseUrl = '', apiKey = '', answersFile = ''] = process.argv;

async function call(path: string, method = 'GET', body?: object, key = apiKey): Promise<Answer> {
  const answer = await fetch(baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

function dataOf({ status, text }: Answer): Record<string, unknown> {
  if (status >= 300) throw new Error(`answered ${status}: ${text}`);
  const { data } = JSON.parse(text) as { readonly data: Record<string, unknown> };
  return data;
}

async function listOf(path: string): Promise<Record<string, unknown>[]> {
  const { text } = await call(`${path}?limit=100`);
  return (JSON.parse(text) as { readonly data: Record<string, unknown>[] }).data;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const endsAt = Date.now() + 60_000;
  while (!(await isSo())) {
    if (Date.now() > endsAt) throw new Error(`not within a minute: ${what}`);
    await sleep(50);
  }
}

async function play(): Promise<Record<string, Answer>> {
  let stock = 'sold out';
  const site = createServer((request, response) => {
    request.resume().once('end', () => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost');
      const status = { '/gone': 410, '/refused': 400, '/broken-page': 503 }[pathname] ?? 200;
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
      response.end(`<title>Shop</title><p id="stock">${stock}</p><p id="price">1.299,00 €</p>`);
    });
  }).listen(sitePort, '127.0.0.1');
  await once(site, 'listening');
  const mails = new SMTPServer({ authOptional: true, disabledCommands: ['AUTH', 'STARTTLS'], logger: false });
  mails.listen(mailPort, '127.0.0.1');
  const at = (path: string): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`;
  const stockCode = "return document.querySelector('#stock').textContent === 'in stock';";
  const create = async (task: object): Promise<string> =>
    String(dataOf(await call('/api/notifications', 'POST', task))['id']);
  const run = async (id: string, body: object = {}): Promise<string> =>
    String(dataOf(await call(`/api/notifications/${id}/execute?wait=30`, 'POST', body))['id']);
  const quiet = async (id: string, deliveries: number): Promise<void> =>
    until(`${deliveries} deliveries of ${id} have ended`, async () => {
      const all = await listOf(`/api/notifications/${id}/deliveries`);
      return all.length === deliveries && all.every(({ finishedAt }) => finishedAt !== null);
    });

  const hook = {
    url: at('/hook?token=in-the-address'),
    headers: { Authorization: 'Bearer hook-password' },
    secret: webhookSecret,
  };
  const stockId = await create({
    name: 'Stock',
    description: 'Everything that can be said to people',
    url: at('/shop'),
    evaluationFunction: `console.log('looked'); page.report('price', 1299); ${stockCode}`,
    schedule: { type: 'interval', intervalSeconds: 3600, catchUp: 'none' },
    policy: { errorThreshold: 2 },
    fetch: { headers: { Cookie: 'session=of-the-page' }, timeoutSeconds: 20, retry: { attempts: 1 } },
    tags: ['shop', 'stock'],
    externalKey: 'shop/stock',
    actions: [
      {
        type: 'email',
        on: ['triggered', 'recovered', 'error'],
        config: {
          to: ['one@example.com', 'two@example.com'],
          cc: 'three@example.com',
          replyTo: 'four@example.com',
          subject: '{{ task.name }}: {{ execution.outcome }}',
          body: 'See {{ links.task }}',
        },
      },
      { type: 'webhook', on: ['triggered', 'recovered', 'error'], config: hook },
      { type: 'webhook', config: { url: at('/templated'), method: 'PUT', body: '{"text":"{{ task.name }}"}' } },
      {
        type: 'custom',
        config: {
          code: `return [{ url: '${at('/custom')}', headers: { 'x-token': secrets.token }, body: { id: event.data.execution.id } }];`,
          secrets: { token: 'custom-password' },
        },
      },
    ],
  });
  await run(stockId);
  stock = 'in stock';
  await run(stockId);
  await run(stockId);
  await quiet(stockId, 4);
  await run(stockId, { force: true });
  await quiet(stockId, 8);
  await run(stockId, { dryRun: true });
  stock = 'sold out';
  await run(stockId);
  await quiet(stockId, 10);

  const refusedId = await create({
    name: 'Refused by its receivers',
    url: at('/shop'),
    evaluationFunction: stockCode,
    schedule: { type: 'manual' },
    actions: [
      { type: 'webhook', config: { url: at('/gone') } },
      { type: 'webhook', config: { url: at('/refused') } },
    ],
  });
  stock = 'in stock';
  await run(refusedId);
  await quiet(refusedId, 2);
  await until('the action is disabled', async () =>
    (await call(`/api/notifications/${refusedId}`)).text.includes('"enabled":false'),
  );

  const failingId = await create({
    name: 'Code that throws',
    url: at('/shop'),
    evaluationFunction: "return document.querySelector('#nothing').textContent === 'in stock';",
    schedule: { type: 'manual' },
    policy: { errorThreshold: 1 },
    actions: [{ type: 'webhook', on: ['error'], config: { url: at('/hook'), secret: webhookSecret } }],
  });
  await run(failingId);
  await quiet(failingId, 1);
  const brokenId = await create({
    name: 'Broken page',
    url: at('/broken-page'),
    evaluationFunction: 'true',
    schedule: { type: 'manual' },
    fetch: { retry: { attempts: 1 } },
  });
  await run(brokenId);

  const everySecondId = await create({
    name: 'Every second',
    url: at('/shop'),
    evaluationFunction: '() => page.number("12,50 €") > 10',
    schedule: { type: 'interval', intervalSeconds: 1 },
  });
  await until(
    'it has run by itself',
    async () =>
      (await listOf(`/api/notifications/${everySecondId}/executions`)).filter(({ outcome }) => outcome === true)
        .length >= 3,
  );
  await call(`/api/notifications/${everySecondId}`, 'PATCH', {
    name: 'Every five seconds',
    schedule: { type: 'interval', intervalSeconds: 5 },
    tags: ['changed'],
  });
  await call(`/api/notifications/${everySecondId}`, 'PATCH', { status: 'paused' });
  await call(`/api/notifications/${stockId}`, 'PATCH', { status: 'paused' });
  await call(`/api/notifications/${everySecondId}`, 'PATCH', { status: 'active' });
  await call(`/api/notifications/${everySecondId}`, 'PATCH', { status: 'paused' });
  const archivedId = await create({
    name: 'Archived',
    url: at('/shop'),
    evaluationFunction: 'true',
    schedule: { type: 'manual' },
    externalKey: 'shop/archived',
  });
  await run(archivedId);
  await call(`/api/notifications/${archivedId}`, 'DELETE');
  await create({
    name: 'The key again',
    url: at('/shop'),
    evaluationFunction: 'true',
    schedule: { type: 'manual' },
    externalKey: 'shop/archived',
  });

  await call('/api/keys', 'POST', { name: 'reads from one network', scopes: ['read'], allowedCidrs: ['127.0.0.0/8'] });
  const revoked = dataOf(
    await call('/api/keys', 'POST', { name: 'revoked', scopes: ['write'], expiresAt: '2099-01-01T00:00:00Z' }),
  );
  await call(`/api/keys/${String(revoked['id'])}`, 'DELETE');

  await until('nothing is under way or due', async () => {
    const runs = await listOf('/api/executions');
    const tasks = await listOf('/api/notifications');
    return runs.every(({ finishedAt }) => finishedAt !== null) && tasks.every(({ nextRunAt }) => nextRunAt === null);
  });
  site.close();
  site.closeAllConnections();
  mails.close();

  const paths = ['notifications', 'executions', 'deliveries', 'keys'].map((list) => `/api/${list}?limit=100`);
  for (const { id } of await listOf('/api/notifications'))
    paths.push(`/api/notifications/${String(id)}`, `/api/notifications/${String(id)}/history`);
  for (const { id } of await listOf('/api/deliveries')) paths.push(`/api/deliveries/${String(id)}`);
  for (const { id, snapshotId } of await listOf('/api/executions')) {
    paths.push(`/api/executions/${String(id)}`);
    if (snapshotId !== null) paths.push(`/api/executions/${String(id)}/snapshot`);
  }
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await call(path)] as const)));
}

if (import.meta.main) await writeFile(answersFile, `${JSON.stringify(await play(), null, 1)}\n`);
