/** `meerkat demo`: the real product on a folder that is gone afterwards, with a page, a mail server and a receiver of its own. */
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { z } from 'zod';
import { sleep } from '#concurrency/sleep';
import { createApiKey } from '#contracts/api-key';
import { ConfigError, readConfig, type Config } from '#runtime/config';
import { createLogger } from '#runtime/logger';
import { createMailSink, type ReceivedMail } from './demo/mail-sink.js';
import { createShop } from './demo/shop.js';
import { createWebhookSink, type ReceivedWebhook } from './demo/webhook-sink.js';
import type { Product, RunningProduct } from './product.js';
import { plain, plainLines, printResult, Refused, styled } from './terminal.js';

const usualPort = 3_000;
const loopback = '127.0.0.1';
const intervalSeconds = 1;
const lookEveryMs = 250;
/** With `--once`: what has not arrived by then never will. */
const onceTimeoutMs = 25_000;

const evaluationFunction = `const price = page.number(document.querySelector('[itemprop=price]'));
page.report('price', price);
return price < 100;`;

const created = z.object({
  data: z.object({ id: z.string(), actions: z.array(z.object({ type: z.string(), config: z.looseObject({}) })) }),
});
const executions = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      status: z.string(),
      outcome: z.boolean().nullable(),
      values: z.record(z.string(), z.unknown()),
      error: z.object({ message: z.string() }).nullable(),
      decision: z.object({ reason: z.string() }).nullable(),
      finishedAt: z.string().nullable(),
    }),
  ),
});
const webhookBody = z.object({ type: z.string(), data: z.looseObject({ message: z.string() }) });

interface DemoOptions {
  readonly port?: number;
  readonly once?: true;
}

const timeOfDay = (epochMs: number): string => new Date(epochMs).toTimeString().slice(0, 8);
const tell = (title: string, text: string, atMs = Date.now()): void =>
  printResult(`${styled('dim', timeOfDay(atMs))}  ${title.padEnd(8)} ${text}`);

async function listen(server: Server): Promise<string> {
  server.listen(0, loopback);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a listening server has no port');
  return `${loopback}:${address.port}`;
}

function close(server: Server): Promise<void> {
  if (server instanceof HttpServer) server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Nothing of the surroundings counts: the demo is the same everywhere. */
function demoConfig(folder: string, mailHost: string, apiKey: string, port: number): Config {
  return readConfig(
    {
      DATA_DIR: join(folder, 'data'),
      HOST: loopback,
      PORT: String(port),
      EGRESS_ALLOW: `${loopback}/32`,
      SMTP_URL: `smtp://${mailHost}`,
      MAIL_FROM: 'Meerkat <meerkat@demo.localhost>',
      MIN_INTERVAL_SECONDS: String(intervalSeconds),
      OWNER_EMAIL: 'owner@demo.localhost',
      OWNER_PASSWORD: randomBytes(18).toString('base64url'),
      OWNER_API_KEY: apiKey,
      OWNER_ORGANIZATION: 'Demo',
      LOG_LEVEL: 'warn',
    },
    folder,
  );
}

/** On the usual port where it is free, else on any; a port that was asked for is taken or refused. */
async function runProduct(
  product: Product,
  configFor: (port: number) => Config,
  askedPort: number | undefined,
): Promise<RunningProduct> {
  const begin = (config: Config): Promise<RunningProduct> => product.run(config, createLogger(config));
  if (askedPort !== undefined) return begin(configFor(askedPort));
  return begin(configFor(usualPort)).catch((error: unknown) => {
    if (error instanceof ConfigError && error.faults.some((fault) => fault.startsWith('PORT:')))
      return begin(configFor(0));
    throw error;
  });
}

interface Client {
  ask(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown>;
}

function createClient(url: string, apiKey: string): Client {
  return {
    async ask(method, path, body) {
      const answer = await fetch(new URL(path, url), {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return JSON.parse(text) as unknown;
    },
  };
}

const taskOf = (shop: string, hook: string): object => ({
  name: 'Binoculars under 100',
  url: `http://${shop}/`,
  evaluationFunction,
  schedule: { type: 'interval', intervalSeconds },
  actions: [
    {
      type: 'email',
      config: { to: 'you@demo.localhost', subject: '{{ task.name }}: now {{ values.price }} euros' },
      on: ['triggered'],
    },
    { type: 'webhook', config: { url: `http://${hook}/hook` }, on: ['triggered', 'recovered'] },
  ],
});

/** Prints each run of the task once, in order, until it is told to end. */
async function followRuns(client: Client, taskId: string, signal: AbortSignal): Promise<void> {
  const told = new Set<string>();
  while (!signal.aborted) {
    const { data } = executions.parse(await client.ask('GET', `/api/notifications/${taskId}/executions?limit=20`));
    for (const { id, status, outcome, values, error, decision, finishedAt } of data.toReversed()) {
      if (finishedAt === null || told.has(id)) continue;
      told.add(id);
      const found = outcome === null ? `${status}: ${error?.message ?? ''}` : `price ${String(values['price'])}`;
      const verdict = outcome === null ? '' : styled(outcome ? 'green' : 'yellow', String(outcome).padEnd(5));
      tell('run', `${verdict} ${plain(found)}  ${styled('dim', decision?.reason ?? '')}`, Date.parse(finishedAt));
    }
    await sleep(lookEveryMs, signal);
  }
}

function tellMail({ from, to, subject, text }: ReceivedMail): void {
  tell('mail', styled('bold', plain(subject)));
  printResult(`                    from ${plain(from)} to ${plain(to.join(', '))}`);
  for (const line of plainLines(text)) printResult(`                    ${styled('dim', `│ ${line}`)}`);
}

function tellWebhook({ id, body, isSigned }: ReceivedWebhook): void {
  const parsed = webhookBody.parse(JSON.parse(body));
  const seal = isSigned ? styled('green', 'signature verified') : styled('red', 'signature wrong');
  tell('webhook', `${styled('bold', plain(parsed.type))}  ${plain(id)}  ${seal}`);
  for (const line of JSON.stringify(parsed.data, null, 2).split('\n')) {
    printResult(`                    ${styled('dim', `│ ${plain(line)}`)}`);
  }
}

function guide(url: string, apiKey: string, shop: string, taskId: string): string {
  const row = (title: string, text: string): string => `  ${title.padEnd(10)} ${text}`;
  const curl = `curl -H 'Authorization: Bearer ${apiKey}' ${url}/api/notifications/${taskId}`;
  return [
    styled('bold', `Meerkat is ready at ${url}`),
    row('page', `http://${shop}/  its price is about to drop`),
    row('API', `${url}/api/notifications`),
    row('reference', `${url}/docs`),
    row('API key', apiKey),
    row('try', curl),
    '',
    `The task "Binoculars under 100" looks at the page every ${intervalSeconds} s. Ctrl-C ends the demo and removes all of it.`,
    '',
  ].join('\n');
}

/** Resolves at the first signal, or when nobody reads any more (`| head`). Further signals do not cut the end short. */
function toldToEnd(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
    process.stdout.on('error', () => resolve());
  });
}

async function runDemo(
  product: Product,
  { port, once: isOnce = false }: { port?: number; once?: boolean },
): Promise<void> {
  const startedMs = performance.now();
  const apiKey = createApiKey(randomBytes);
  const ending = new AbortController();
  let secret = '';
  const arrived = { mail: false, webhook: false };
  const bothArrived = Promise.withResolvers<void>();
  const note = (kind: 'mail' | 'webhook'): void => {
    const isFirst = !arrived.mail && !arrived.webhook;
    arrived[kind] = true;
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    if (isFirst) tell('demo', styled('dim', `that was the first notification, ${seconds} s after the start`));
    if (arrived.mail && arrived.webhook) bothArrived.resolve();
  };
  const shop = createShop();
  const mailSink = createMailSink((mail) => {
    tellMail(mail);
    note('mail');
  });
  const webhookSink = createWebhookSink(
    () => secret,
    (webhook) => {
      tellWebhook(webhook);
      if (webhook.isSigned) note('webhook');
    },
  );
  const stop = toldToEnd();
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-demo-'));
  let running: RunningProduct | null = null;
  try {
    const [shopHost, mailHost, hookHost] = await Promise.all([shop, mailSink, webhookSink].map(listen));
    const configFor = (on: number): Config => demoConfig(folder, String(mailHost), apiKey, on);
    running = await runProduct(product, configFor, port);
    const url = String(running.url);
    const client = createClient(url, apiKey);
    const task = created.parse(
      await client.ask('POST', '/api/notifications', taskOf(String(shopHost), String(hookHost))),
    );
    secret = String(task.data.actions.find(({ type }) => type === 'webhook')?.config['secret']);
    printResult(guide(url, apiKey, String(shopHost), task.data.id));
    const following = followRuns(client, task.data.id, ending.signal);
    const late = sleep(onceTimeoutMs, ending.signal).then(() => {
      throw new Refused('nothing_arrived', `No mail and webhook arrived within ${onceTimeoutMs / 1_000} s.`);
    });
    late.catch(() => undefined);
    await Promise.race([stop, following, ...(isOnce ? [bothArrived.promise, late] : [])]);
  } finally {
    ending.abort();
    await running?.stop();
    await Promise.all([shop, mailSink, webhookSink].map(close));
    await rm(folder, { recursive: true, force: true });
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}

export function addDemo(program: Command, product: Product): void {
  program
    .command('demo')
    .description('see it work: a page that changes, a mail and a webhook, all on this machine')
    .option('--port <port>', `port of the API (default: ${usualPort} where it is free)`, parsePort)
    .option('--once', 'end when the first mail and the first webhook have arrived')
    .action((options: DemoOptions) => runDemo(product, options));
}
