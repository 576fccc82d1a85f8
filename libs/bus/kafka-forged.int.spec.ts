/** Somebody on the network who reads and writes the topics. Needs a broker (BUS_URL). */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { found } from '#runtime/probe.kit';
import type { Bus, BusMessage, DeadLetter, OpenedBus, RequestContext } from './bus.js';
import { createKafkaBus } from './kafka.js';
import type { KafkaConnection } from './kafka-client.js';
import { writeMessage, writeRequest } from './kafka-envelope.js';
import { dropInstallation, ownInstallation, writeRaw } from './kafka.kit.js';
import { sealBus } from './sealed-bus.js';

const context: RequestContext = { organizationId: 'org_1', actor: 'key:key_1', requestId: 'req_1' };
const options = { topic: 'run', group: 'g', concurrency: 8, handlerTimeoutMs: 5_000 };

function message(id: string): BusMessage {
  const metadata = { ...context, causationId: null, at: '2026-11-21T10:00:00.000Z' };
  return { id, type: 'notification.requested', key: 'k', data: { deliveryId: 'dlv_1' }, metadata };
}

describe('Kafka messages that somebody on the network wrote', () => {
  let connection: KafkaConnection;
  let opened: OpenedBus;
  let bus: Bus;
  let recorded: DeadLetter[];
  let lines: string[];
  beforeEach(async () => {
    lines = [];
    recorded = [];
    const own = ownInstallation(process.env['BUS_URL']);
    connection = { ...own, logger: { ...own.logger, error: (_fields, line) => void lines.push(line) } };
    opened = await createKafkaBus({ ...connection, recordDeadLetter: async (letter) => void recorded.push(letter) });
    bus = sealBus(opened, new Uint8Array(32).fill(1), connection.logger);
  });
  afterEach(async () => {
    await opened.close();
    await dropInstallation(connection);
  });

  it('are ignored in the topic and in its retries, and those of the installation are handled', async () => {
    const seen: string[] = [];
    let failures = 3;
    await bus.consume(options, async ({ id }) => {
      if (id === 'shaky' && failures > 0) {
        failures -= 1;
        throw new Error('not yet');
      }
      seen.push(id);
    });
    await opened.ready();
    await writeRaw(connection, 'run', [{ key: 'k', value: writeMessage(message('forged')) }]);
    const retry = { key: 'k', value: writeMessage(message('forged again')), headers: { group: 'g', round: '3' } };
    await writeRaw(connection, 'run.retry', [retry]);
    await bus.publish('run', [message('shaky'), message('true')]);
    await found(async () => seen.includes('shaky') && seen.includes('true'));
    await found(async () => lines.some((line) => line.startsWith('ignoring a message that no process')));
    expect(seen.toSorted()).toEqual(['shaky', 'true']);
    expect(recorded).toEqual([]);
  });

  it('carry out no request, in clear or with a payload that was sealed for somebody else', async () => {
    const done: RequestContext[] = [];
    await bus.respond('tasks.change', async (_payload, who) => {
      done.push(who);
      return null;
    });
    await opened.ready();
    await bus.request('tasks.change', {}, context);
    const forged = { name: 'tasks.change', deadlineAtMs: Date.now() + 60_000, payload: {} };
    await writeRaw(
      connection,
      'requests.tasks',
      Array.from({ length: 6 }, (_, index) => ({
        value: writeRequest({ ...forged, id: `forged-${index}`, context: { ...context, requestId: `req_${index}` } }),
      })),
    );
    await bus.request('tasks.change', {}, { ...context, requestId: 'req_last' });
    expect(done.map(({ requestId }) => requestId)).toEqual(['req_1', 'req_last']);
  });
});
