import { createServer, type AddressInfo, type Server } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Aedes } from 'aedes';
import { hostileText } from '#channels/dialects.kit';
import { mqtt } from '#channels/mqtt/build';
import { aNotification, kitTimeMs, type KitNotification } from '#channels/notification.kit';
import type { MqttMessage } from '#channels/peer';
import { testCertificate, testKey } from '#outbound/loopback.contract';
import type { Outbound } from '#outbound/outbound';
import { createOutbound } from '#outbound/undici';
import { publish } from './mqtt.js';

interface Published {
  readonly topic: string;
  readonly payload: string;
  readonly qos: number;
  readonly retain: boolean;
}

const signal = new AbortController().signal;
let outbound: Outbound;
let broker: Aedes;
let server: Server;
let port: number;
let published: Published[];
let sessions: string[];

beforeAll(async () => {
  outbound = createOutbound({ egressAllow: ['127.0.0.1'], egressProxyUrl: null, userAgent: 'Meerkat' });
  broker = await Aedes.createBroker();
  broker.authenticate = (_client, username, password, done) => {
    const isKnown = username === undefined || (username === 'meerkat' && password?.toString() === 'pässword');
    if (isKnown) done(null, true);
    else done(Object.assign(new Error('Auth error'), { returnCode: 4 }), false);
  };
  broker.on('publish', ({ topic, payload, qos, retain }, client) => {
    if (client !== null) published.push({ topic, payload: payload.toString(), qos, retain });
  });
  broker.on('clientReady', ({ id }) => void sessions.push(id));
  server = createServer(broker.handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
beforeEach(() => {
  published = [];
  sessions = [];
});
afterAll(async () => {
  await outbound.close();
  await new Promise<void>((resolve) => broker.close(() => resolve()));
  await new Promise((resolve) => server.close(resolve));
});

function messageOf(more: object = {}, options: KitNotification = {}): MqttMessage {
  const config = { serverUrl: `mqtt://127.0.0.1:${port}`, topic: 'watch/{{ task.name }}', version: '3.1.1', ...more };
  const built = mqtt.build(
    { request: aNotification(options), config },
    { nowMs: kitTimeMs, linkBase: 'https://meerkat.example', mailFrom: 'a@example.com' },
  );
  if (built.kind !== 'peer' || built.message.protocol !== 'mqtt') throw new Error(`built ${built.kind}`);
  return built.message;
}

describe('a message to a broker', () => {
  it('arrives at its topic, and says what happened', async () => {
    expect(await publish(outbound, messageOf(), signal)).toEqual({ ok: true, code: 'published', text: '' });
    expect(published).toMatchObject([{ topic: 'watch/Price watch', qos: 1, retain: false }]);
    expect(JSON.parse(published[0]?.payload ?? '')).toMatchObject({
      type: 'notification.triggered',
      episode: expect.stringMatching(/condition:1$/),
      data: { message: expect.stringContaining('became true') },
    });
  });

  it.each([0, 1, 2])('of QoS %i is acknowledged as its level demands', async (qos) => {
    expect(await publish(outbound, messageOf({ qos }), signal)).toMatchObject({ ok: true });
    expect(published.map((one) => one.qos)).toEqual([qos]);
  });

  it.each<[KitNotification['kind'], boolean]>([
    ['triggered', true],
    ['recovered', true],
    ['error', false],
    ['test', false],
  ])('of the kind %s is kept by the broker: %s', async (kind, retain) => {
    await publish(outbound, messageOf({ retain: true }, kind === undefined ? {} : { kind }), signal);
    expect(published.map((one) => one.retain)).toEqual([retain]);
  });

  it('goes to one topic, whatever a page says', async () => {
    const { context } = aNotification();
    const task = { ...context.task, name: `#/+/${hostileText}\u0000` };
    const message = messageOf({ text: '{{ task.name }}' }, { context: { ...context, task } });
    expect(message.topic).not.toMatch(/[+#\u0000-\u001f]/);
    expect(message.topic.split('/')).toHaveLength(2);
    expect(await publish(outbound, message, signal)).toMatchObject({ ok: true });
  });

  it('is a session of its own, which ends in order', async () => {
    await Promise.all([
      publish(outbound, messageOf({}, { name: 'one' }), signal),
      publish(outbound, messageOf({}, { name: 'two' }), signal),
    ]);
    expect(new Set(sessions).size).toBe(2);
    expect(broker.connectedClients).toBe(0);
  });
});

describe('a broker that asks who comes', () => {
  const [cert, key] = [testCertificate, testKey];
  let asking: TlsServer;
  const messageToIt = (more: object): MqttMessage => {
    const { port: itsPort } = asking.address() as AddressInfo;
    return messageOf({ serverUrl: `mqtts://127.0.0.1:${itsPort}`, ca: cert, ...more });
  };

  beforeAll(async () => {
    asking = createTlsServer({ cert, key, ca: [cert], requestCert: true, rejectUnauthorized: true }, broker.handle);
    await new Promise<void>((resolve) => asking.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => asking.close(resolve)));

  it('gets the message from a sender whose certificate it trusts', async () => {
    const answer = await publish(outbound, messageToIt({ clientCertificate: cert, clientKey: key }), signal);
    expect(answer).toEqual({ ok: true, code: 'published', text: '' });
    expect(published).toHaveLength(1);
  });

  it('and is shown nothing is named, with the settings that it wants', async () => {
    expect(await publish(outbound, messageToIt({}), signal)).toEqual({
      ok: false,
      reason: 'tls_failed',
      message: 'The broker wants a client certificate: set clientCertificate and clientKey.',
      sent: false,
    });
  });
});

describe('a broker', () => {
  it('that knows the name and password lets the message in', async () => {
    const login = { username: 'meerkat', password: 'pässword' };
    expect(await publish(outbound, messageOf(login), signal)).toMatchObject({ ok: true, code: 'published' });
  });

  it('that does not is named by its code, by which the action is disabled', async () => {
    const answer = await publish(outbound, messageOf({ username: 'meerkat', password: 'wrong' }), signal);
    expect(answer).toMatchObject({ ok: true, code: 4 });
    const { classify } = mqtt;
    expect(classify(answer)).toMatchObject({ state: 'refused', reason: 'gone' });
  });

  it('that closes before it answers is tried again', async () => {
    const silent = createServer((socket) => socket.once('data', () => socket.destroy()));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port: other } = silent.address() as AddressInfo;
    const answer = await publish(outbound, { ...messageOf(), port: other }, signal);
    expect(answer).toMatchObject({ ok: false, reason: 'connection_lost' });
    await new Promise((resolve) => silent.close(resolve));
  });

  it('at a private address is never reached: it is checked as any other', async () => {
    const closed = createOutbound({ egressAllow: [], egressProxyUrl: null, userAgent: 'Meerkat' });
    expect(await publish(closed, messageOf(), signal)).toMatchObject({ ok: false, reason: 'address_denied' });
    await closed.close();
  });
});
