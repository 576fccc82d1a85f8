import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { OpenedBus } from '#bus/bus';
import { createSqliteBus } from '#bus/sqlite';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSoleLeases } from '#leases/sole';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { systemClock } from '#runtime/clock';
import { AppError } from '#runtime/errors';
import { silentLogger } from '#runtime/logger';
import { createDocumentState } from '#shared-state/document-state';
import { runService } from './run-service.js';
import type { Service } from './service.js';
import type { MessageBus, ServicePorts } from './service-ports.js';

const context = { organizationId: 'org_1', actor: 'key:1', requestId: 'req_1' };
let bus: OpenedBus;
let eventStore: EventStore;
let readStore: ViewStore;
let ports: ServicePorts;
let seen: string[];

class DimLamp {
  constructor(readonly percent: number) {}
}
class LampQuery {
  constructor(readonly organizationId: string) {}
}

/** Names itself and hands the message back. */
const messageBus = (name: string): MessageBus => ({
  execute: async (message) => ({ name, of: message.constructor.name, ...message }),
});

beforeEach(() => {
  bus = createSqliteBus(':memory:', silentLogger);
  eventStore = createSqliteEventStore(':memory:');
  readStore = createSqliteReadStore(':memory:');
  ports = {
    bus,
    eventStore,
    readStore,
    sharedState: createDocumentState(readStore),
    leases: createSoleLeases(),
    clock: systemClock,
    logger: silentLogger,
    commands: messageBus('commands'),
    queries: messageBus('queries'),
  };
  seen = [];
});
afterEach(async () => {
  await bus.close();
  await readStore.close();
  await eventStore.close();
});

/** Notes each step of its life in `seen`. */
function serviceOf(ready: () => Promise<void> = async () => void seen.push('ready')): Service {
  return {
    name: 'lamps',
    projections: [],
    responders: [
      { request: 'lamp.dim', command: ({ percent }) => new DimLamp(Number(percent)) },
      { request: 'lamp.show', query: (_, { organizationId }) => new LampQuery(organizationId) },
    ],
    background: [
      () => {
        seen.push('background begins');
        return { stop: async () => void seen.push('background ends') };
      },
    ],
    ready,
    closed: async () => void seen.push('closed'),
  };
}

describe('a running service', () => {
  it('answers a request with what the handler of its command or query returns', async () => {
    const running = await runService(serviceOf(), ports);
    const dimmed = await bus.request('lamp.dim', { percent: 40 }, context);
    expect(dimmed).toEqual({ name: 'commands', of: 'DimLamp', percent: 40 });
    const shown = await bus.request('lamp.show', {}, context);
    expect(shown).toEqual({ name: 'queries', of: 'LampQuery', organizationId: 'org_1' });
    await running.stop();
  });

  it('answers a request whose payload it does not take with the error', async () => {
    const refused = (): never => {
      throw new AppError('VALIDATION_ERROR', 'no_lamp', 'There is no such lamp.');
    };
    const responders = [{ request: 'lamp.show', query: refused }];
    const running = await runService({ ...serviceOf(), responders }, ports);
    await expect(bus.request('lamp.show', {}, context)).rejects.toMatchObject({ reason: 'no_lamp' });
    await running.stop();
  });

  it('answers once it is ready, and no more once it is stopped', async () => {
    const running = await runService(serviceOf(), ports);
    await bus.request('lamp.show', {}, context);
    await running.stop();
    expect(seen).toEqual(['background begins', 'ready', 'background ends', 'closed']);
    await expect(bus.request('lamp.show', {}, context, 50)).rejects.toMatchObject({ reason: 'no_answerer' });
  });

  it('stops everything again where it cannot be made ready', async () => {
    const failing = runService(
      serviceOf(() => Promise.reject(new Error('no lamp'))),
      ports,
    );
    await expect(failing).rejects.toThrow('no lamp');
    expect(seen).toEqual(['background begins', 'background ends', 'closed']);
    await expect(bus.request('lamp.show', {}, context, 50)).rejects.toMatchObject({ reason: 'no_answerer' });
  });

  it('stops everything again where the bus takes one of its responders and refuses another', async () => {
    const refusing: OpenedBus = {
      ...bus,
      respond: (name, handler) =>
        name === 'lamp.dim' ? Promise.reject(new Error('refused')) : bus.respond(name, handler),
    };
    await expect(runService(serviceOf(), { ...ports, bus: refusing })).rejects.toThrow('refused');
    expect(seen).toEqual(['background begins', 'background ends', 'closed']);
    await expect(bus.request('lamp.show', {}, context, 50)).rejects.toMatchObject({ reason: 'no_answerer' });
  });
});
