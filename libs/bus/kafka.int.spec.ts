/** Needs a Kafka broker: BUS_URL (see `npm run servers`). */
import { randomBytes } from 'node:crypto';
import { silentLogger } from '#runtime/logger';
import { parseKafkaAddress } from '#runtime/engine-address';
import type { Bus } from './bus.js';
import { busContract } from './bus.contract.js';
import { createKafkaBus } from './kafka.js';
import { withAdmin } from './kafka-client.js';

const url = process.env['BUS_URL'] ?? '';
const address = parseKafkaAddress(url);
if (address === null) {
  throw new Error(
    'Set BUS_URL to a Kafka broker, such as kafka://127.0.0.1:9092: `npm run servers -- up kafka` starts one.',
  );
}

busContract(
  'Kafka',
  async () => {
    const installation = `spec-${randomBytes(6).toString('hex')}`;
    const connection = { ...address, installation, processName: 'spec', logger: silentLogger };
    let bus = await createKafkaBus(connection);
    const others: Bus[] = [];
    return {
      bus,
      async another() {
        const other = await createKafkaBus({ ...connection, processName: 'other' });
        others.push(other);
        return other;
      },
      async reopen() {
        await bus.close();
        bus = await createKafkaBus(connection);
        return bus;
      },
      async destroy() {
        await Promise.all([bus, ...others].map((open) => open.close()));
        await withAdmin(connection, 10_000, async (admin) => {
          const topics = (await admin.listTopics()).filter((name) => name.startsWith(`${installation}.`));
          if (topics.length > 0) await admin.deleteTopics({ topics });
        });
      },
    };
  },
  { replicas: true },
);
