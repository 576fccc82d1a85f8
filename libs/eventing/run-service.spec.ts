import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Bus } from '#bus/bus';
import { createSqliteBus } from '#bus/sqlite';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSoleLeases } from '#leases/sole';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { createDocumentState } from '#shared-state/document-state';
import { runService, type ServicePorts } from './run-service.js';
import type { Service } from './service.js';

const context = { organizationId: 'org_1', actor: 'key:1', requestId: 'req_1' };
let bus: Bus;
let eventStore: EventStore;
let readStore: ViewStore;
let ports: ServicePorts;
let seen: string[];

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
    logger: silentLogger,
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
    responders: [{ request: 'lamp.show', answer: async () => 'lit' }],
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
  it('answers once it is ready, and not after it has stopped', async () => {
    const running = await runService(serviceOf(), ports);
    expect(await bus.request('lamp.show', {}, context)).toBe('lit');
    await running.stop();
    expect(seen).toEqual(['background begins', 'ready', 'background ends', 'closed']);
    await expect(bus.request('lamp.show', {}, context, 50)).rejects.toMatchObject({ reason: 'no_answerer' });
  });

  it('is stopped completely where it fails to get ready', async () => {
    const failing = runService(
      serviceOf(() => Promise.reject(new Error('no lamp'))),
      ports,
    );
    await expect(failing).rejects.toThrow('no lamp');
    expect(seen).toEqual(['background begins', 'background ends', 'closed']);
    await expect(bus.request('lamp.show', {}, context, 50)).rejects.toMatchObject({ reason: 'no_answerer' });
  });

  it('is stopped completely where the bus accepts one of its responders and rejects another', async () => {
    const refusing: Bus = {
      ...bus,
      respond: (name, handler) =>
        name === 'lamp.dim' ? Promise.reject(new Error('refused')) : bus.respond(name, handler),
    };
    const service = serviceOf();
    const responders = [...(service.responders ?? []), { request: 'lamp.dim', answer: async () => null }];
    await expect(runService({ ...service, responders }, { ...ports, bus: refusing })).rejects.toThrow('refused');
    expect(seen).toEqual(['background begins', 'background ends', 'closed']);
    await expect(bus.request('lamp.show', {}, context, 50)).rejects.toMatchObject({ reason: 'no_answerer' });
  });
});
