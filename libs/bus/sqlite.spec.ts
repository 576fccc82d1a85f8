import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '#runtime/logger';
import { busContract } from './bus.contract.js';
import { createSqliteBus } from './sqlite.js';

busContract(
  'SQLite',
  async () => {
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
  },
  { replicas: false },
);
