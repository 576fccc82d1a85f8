/** For specs: a gateway on stores in memory, with an organisation and a key of it, as most of them begin. */
import { expect } from '@jest/globals';
import { createSqliteBus } from '#bus/sqlite';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { startGateway, taskBody, type GatewayKit, type KitStores, type Reply } from './gateway.kit.js';

export interface OpenedGateway {
  readonly gateway: GatewayKit;
  readonly stores: KitStores;
  readonly organizationId: string;
  /** A task that is taken. */
  create(more?: object): Promise<Reply>;
  close(): Promise<void>;
}

const usual = { SMTP_URL: 'smtp://mail.example.com', COMMANDS: '/usr/local/bin/tell' };

/** `settings`: environment of the instance. */
export async function openGateway(settings: Readonly<Record<string, string>> = usual): Promise<OpenedGateway> {
  const stores = {
    eventStore: createSqliteEventStore(':memory:'),
    bus: createSqliteBus(':memory:', silentLogger),
    readStore: createSqliteReadStore(':memory:'),
  };
  const gateway = await startGateway(stores, { ANONYMOUS_PER_MINUTE: '100000', ...settings });
  const organizationId = await gateway.addOrganization('enterprise');
  await gateway.addKey(organizationId, ['admin']);
  return {
    gateway,
    stores,
    organizationId,
    async create(more = {}) {
      const reply = await gateway.send('POST', '/api/notifications', { body: { ...taskBody, ...more } });
      expect(reply.status).toBe(201);
      return reply;
    },
    async close() {
      await gateway.stop();
      await stores.bus.close();
      await stores.readStore.close();
      await stores.eventStore.close();
    },
  };
}
