import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '#runtime/logger';
import { busRequestsContract } from './bus-requests.contract.js';
import { busContract, type BusUnderTest } from './bus.contract.js';
import { createSqliteBus } from './sqlite.js';

const create = async (): Promise<BusUnderTest> => {
  const folder = mkdtempSync(join(tmpdir(), 'meerkat-bus-'));
  const file = join(folder, 'bus.db');
  let bus = createSqliteBus(file, silentLogger);
  return {
    bus,
    async another() {
      return createSqliteBus(file, silentLogger);
    },
    async reopen() {
      await bus.close();
      bus = createSqliteBus(file, silentLogger);
      return bus;
    },
    async destroy() {
      await bus.close();
      rmSync(folder, { recursive: true });
    },
  };
};

busContract('SQLite', create, { replicas: false });
busRequestsContract('SQLite', create, { replicas: false });
