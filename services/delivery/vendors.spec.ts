/** Every channel through the executor, over real sockets, to a receiver that takes what its vendor documents, and that tells what it was told. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSqliteBus } from '#bus/sqlite';
import { declarationOf, type ActionType } from '#channels/declarations';
import { requestsOf, settingsOf, vendorTypes } from '#channels/every-channel.kit';
import { kitTimeMs } from '#channels/notification.kit';
import { judge, type VendorReceiver, type VendorReply } from '#channels/receiver.kit';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { Outbound } from '#outbound/outbound';
import { createOutbound } from '#outbound/undici';
import { createSqliteReadStore } from '#read-store/sqlite';
import { isJsonObject, type Json, type JsonObject } from '#runtime/json';
import { silentLogger } from '#runtime/logger';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { createEventVault } from '#vault/event-vault';
import { DeliveryHarness } from './delivery.kit.js';
import type { DeliveryWorker } from './worker.js';

const originalUrl = 'x-original-url';
/** What the vendors document as answers, and what each means. */
const documented = z.array(
  z.looseObject({
    answer: z.looseObject({
      step: z.string().optional(),
      status: z.int().optional(),
      headers: z.record(z.string(), z.string()).default({}),
      body: z.union([z.string(), z.record(z.string(), z.json())]).default(''),
    }),
    verdict: z.looseObject({
      state: z.enum(['delivered', 'retry', 'refused']),
      reason: z.string().optional(),
      retryAfterMs: z.number().nullish(),
    }),
  }),
);
/** Who asks for more patience than a delivery has is not tried again. */
const endOf = ({
  state,
  retryAfterMs,
}: {
  readonly state: string;
  readonly retryAfterMs?: number | null | undefined;
}) => (state === 'refused' ? 'failed' : (retryAfterMs ?? 0) >= 86_400_000 ? 'expired' : 'retrying');
let harness: DeliveryHarness;
let server: Server;
let worker: DeliveryWorker;
let answerTo: (request: { method: string; url: string; headers: Record<string, string>; body: string }) => VendorReply;

/** Every request goes to the receiver here, which is told where it was to go. */
function ledHere(outbound: Outbound, port: number): Outbound {
  return {
    request: (request) =>
      outbound.request({
        ...request,
        url: `http://127.0.0.1:${port}/`,
        headers: { ...request.headers, [originalUrl]: request.url },
      }),
    connect: outbound.connect.bind(outbound),
    datagram: outbound.datagram.bind(outbound),
    refusalOf: outbound.refusalOf.bind(outbound),
    close: outbound.close.bind(outbound),
  };
}

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { [originalUrl]: url, ...headers } = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const body = Buffer.concat(chunks).toString();
      const reply = answerTo({ method: request.method ?? '', url: url ?? '', headers, body });
      const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
      response.writeHead(reply.status, reply.headers).end(reply.status === 204 ? undefined : text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const eventStore = createSqliteEventStore(':memory:');
  harness = new DeliveryHarness({
    eventStore,
    readStore: createSqliteReadStore(':memory:'),
    bus: createSqliteBus(':memory:', silentLogger),
    outbound: ledHere(createOutbound({ egressAllow: ['127.0.0.1'], egressProxyUrl: null, userAgent: 'Meerkat' }), port),
    sandbox: createQuickJsSandbox({ workers: 1, spareWorkers: 0 }),
    vault: createEventVault(eventStore, Buffer.alloc(32, 1)),
  });
  // The receivers that check a signature have this clock.
  harness.clock.nowMs = kitTimeMs;
  worker = harness.worker();
  worker.start();
});
afterAll(async () => {
  await harness.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const ask = (type: ActionType, config: JsonObject, name: string): Promise<string> =>
  harness.ask({ type, config, name, episode: name }, (id, dueMs) => worker.offer(id, dueMs));

function textsIn(value: Json | undefined): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap((one: Json) => textsIn(one));
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** What nobody may read later: sealed settings, of addresses what gives access. */
function secretsOf(type: ActionType, config: JsonObject): string[] {
  const { sealed, addresses } = declarationOf(type);
  const names = new Set(sealed.map((path) => path.split(/[.[]/)[0] ?? ''));
  return [...names].flatMap((name) =>
    textsIn(config[name]).flatMap((text) => {
      if (!addresses.includes(name)) return [text];
      const { pathname, searchParams } = new URL(text);
      const inPath = pathname.split('/').filter((part) => part.length >= 20 && /\d/.test(part));
      return [...inPath, ...[...searchParams.values()].filter((part) => part.length >= 10)];
    }),
  );
}

const canRead = (text: string, secret: string): boolean => secret.length > 3 && text.includes(secret);

describe.each(vendorTypes)('a delivery by %s', (type) => {
  let receiver: VendorReceiver;
  const [settings] = settingsOf(type);
  if (settings === undefined) throw new Error(`${type} has no settings`);
  const { config } = settings;

  beforeAll(async () => {
    ({ receiver } = (await import(`../../libs/channels/${type}/receiver.kit.js`)) as { receiver: VendorReceiver });
  });

  it('arrives as the vendor documents it', async () => {
    const faults: string[] = [];
    answerTo = (request) => {
      const judged = judge(receiver, { ...request, timeoutMs: 0 });
      faults.push(...judged.faults);
      return judged.reply;
    };
    const document = await harness.untilState(
      await ask(type, config, `${type} arrives`),
      'delivered',
      'failed',
      'retrying',
    );
    expect({ state: document.state, faults }).toEqual({ state: 'delivered', faults: [] });
  });

  it('that is answered with an error of its vendor ends as that error says', async () => {
    const file = new URL(`../../libs/channels/${type}/golden/answers.json`, import.meta.url);
    const answers = documented.parse(JSON.parse(readFileSync(file, 'utf8')));
    const [first] = requestsOf(type, { config, opened: null });
    let count = 0;
    for (const { answer, verdict } of answers) {
      const { status, headers, body, step } = answer;
      if (status === undefined || verdict.state === 'delivered' || (step !== undefined && step !== first?.step))
        continue;
      count += 1;
      answerTo = () => ({ status, headers, body });
      const id = await ask(type, config, `${type} error ${count}`);
      const ended = await harness.untilState(id, 'failed', 'retrying', 'expired', 'delivered');
      const reason = verdict.reason ?? ended.reason;
      expect({ answer, state: ended.state, reason: ended.reason }).toEqual({
        answer,
        state: endOf(verdict),
        reason,
      });
      // Several failures in a row would open the breaker of this receiver.
      answerTo = (request) => judge(receiver, { ...request, timeoutMs: 0 }).reply;
      await harness.untilState(await ask(type, config, `${type} arrives after ${count}`), 'delivered');
    }
    expect(count).toBeGreaterThan(2);
  });

  it('whose receiver writes back all that it was told shows no secret in record or log', async () => {
    answerTo = ({ url, headers, body }) => ({
      status: 400,
      body: JSON.stringify({ error: { url, headers, body, config } }),
    });
    const refused = await harness.untilState(await ask(type, config, `${type} refused`), 'failed', 'retrying');
    answerTo = ({ url }) => ({ status: 503, body: `cannot take ${url} ${decodeURIComponent(url)}` });
    const deferred = await harness.untilState(await ask(type, config, `${type} deferred`), 'retrying', 'failed');
    const shown = JSON.stringify([refused, deferred, harness.logged]);
    const secrets = secretsOf(type, config);
    expect(secrets.length).toBeGreaterThan(0);
    expect(secrets.filter((secret) => canRead(shown, secret))).toEqual([]);
  });
});
