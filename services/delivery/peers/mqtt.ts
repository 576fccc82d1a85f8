/** MQTT: one message to a broker, by the package `mqtt` over a socket that the outbound door opened. */
import type { MqttClient } from 'mqtt';
import type { MqttMessage, PeerAnswer } from '#channels/peer';
import type { Outbound } from '#outbound/outbound';
import { refusedIdentity } from './refused-identity.js';

const levels = { '3.1.1': 4, '5': 5 } as const;

/** The broker's reason, where it gave one: of CONNACK or PUBACK. */
function reasonOf(error: unknown): number | null {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'number' ? code : null;
}

/** A broker that says why: the message was refused, or is to come later. */
function refused(code: number, text: string): PeerAnswer {
  return { ok: true, code, text };
}

export async function publish(
  outbound: Pick<Outbound, 'connect'>,
  message: MqttMessage,
  signal: AbortSignal,
): Promise<PeerAnswer> {
  const { host, port, trust, topic, payload, qos, retain, version, clientId, username, password, timeoutMs } = message;
  const connected = await outbound.connect(host, port, timeoutMs, trust ?? undefined);
  if (!connected.ok) return connected;
  const { MqttClient: Client } = await import('mqtt');
  return new Promise((resolve) => {
    let wasConnected = false;
    let taken: PeerAnswer | null = null;
    const client: MqttClient = new Client(() => connected.socket, {
      clientId,
      protocolVersion: levels[version],
      clean: true,
      // One message, then the end: whatever goes wrong is for the next try.
      reconnectPeriod: 0,
      connectTimeout: timeoutMs,
      queueQoSZero: false,
      ...(username === null ? {} : { username }),
      ...(password === null ? {} : { password }),
      manualConnect: true,
    });
    const settle = (answer: PeerAnswer): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      client.on('error', () => undefined).end(true);
      connected.socket.on('error', () => undefined).destroy();
      resolve(answer);
    };
    const failed = (reason: string, text: string): void =>
      settle({ ok: false, reason, message: text, sent: wasConnected });
    const onAbort = (): void => failed('aborted', 'The service was stopped before the broker answered.');
    const timer = setTimeout(() => failed('timed_out', 'The broker did not answer in time.'), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    client.on('error', (error) => {
      const code = reasonOf(error);
      const identity = refusedIdentity(error, 'broker');
      if (identity !== null) failed('tls_failed', identity);
      else if (code === null) failed('connection_lost', 'The connection to the broker broke.');
      else settle(refused(code, error.message));
    });
    client.on('close', () => {
      if (taken === null) failed('connection_lost', 'The broker closed the connection before it answered.');
      else settle(taken);
    });
    client.on('connect', () => {
      wasConnected = true;
      const properties = version === '5' ? { properties: { contentType: 'application/json' } } : {};
      client.publish(topic, payload, { qos, retain, ...properties }, (error, packet) => {
        const code = packet !== undefined && 'reasonCode' in packet ? Number(packet.reasonCode ?? 0) : 0;
        if (error !== null && error !== undefined) {
          const reason = reasonOf(error);
          if (reason === null) failed('connection_lost', 'The broker did not take the message.');
          else settle(refused(reason, error.message));
          return;
        }
        if (code >= 0x80) return settle(refused(code, 'The broker refused the message.'));
        taken = { ok: true, code: 'published', text: '' };
        // In order, so that the broker sees no session that broke off.
        client.end();
      });
    });
    client.connect();
  });
}
