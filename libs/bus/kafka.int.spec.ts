/** Needs a Kafka broker: BUS_URL (see `npm run servers`). */
import { busRequestsContract } from './bus-requests.contract.js';
import { busContract, type BusUnderTest } from './bus.contract.js';
import type { OpenedBus } from './bus.js';
import { createKafkaBus } from './kafka.js';
import { dropInstallation, ownInstallation } from './kafka.kit.js';

const create = async (): Promise<BusUnderTest> => {
  const connection = ownInstallation(process.env['BUS_URL']);
  let bus = await createKafkaBus(connection);
  const others: OpenedBus[] = [];
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
      await dropInstallation(connection);
    },
  };
};

busContract('Kafka', create, { replicas: true });
busRequestsContract('Kafka', create, { replicas: true });
