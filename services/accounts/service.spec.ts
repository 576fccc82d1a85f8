import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Global, Module, type DynamicModule, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { z } from 'zod';
import { BUS, type OpenedBus } from '#bus/bus';
import { createSqliteBus } from '#bus/sqlite';
import { keyDocument, keysView } from '#contracts/account';
import { createApiKey, parseApiKey } from '#contracts/api-key';
import { requests } from '#contracts/catalogue';
import { EVENT_STORE, STORED_EVENTS, type EventStore } from '#event-store/event-store';
import { createAuditSigner, HEAD_LINES, AUDIT_SIGNER } from '#eventing/audit-heads';
import { createOwnerKeys } from '#vault/owner-keys';
import { createEventOpener, EVENT_OPENER } from '#vault/sealed-events';
import { createSqliteEventStore } from '#event-store/sqlite';
import { KEY_PEPPER, LINK_PEPPER } from '#contracts/api-key';
import { LEASES } from '#leases/leases';
import { createSoleLeases } from '#leases/sole';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { CLOCK, systemClock } from '#runtime/clock';
import { OUTBOUND } from '#outbound/outbound';
import { CONFIG, ConfigError, PUBLIC_ADDRESS, readConfig } from '#runtime/config';
import { createIds, IDS } from '#runtime/ids';
import type { Json, JsonObject } from '#runtime/json';
import { LOGGER, silentLogger } from '#runtime/logger';
import { createDocumentState } from '#shared-state/document-state';
import { SHARED_STATE } from '#shared-state/shared-state';
import { createEventVault } from '#vault/event-vault';
import { VAULT } from '#vault/vault';
import { AccountsModule } from './accounts.module.js';
import { kitMasterKey, kitPepper } from './accounts.kit.js';
import { SETUP_LINK, type SetupLink } from './service.js';

class Surroundings {}
Global()(Surroundings);

let eventStore: EventStore;
let readStore: ReadStore;
let bus: OpenedBus;
let app: INestApplicationContext | null = null;

beforeEach(() => {
  eventStore = createSqliteEventStore(':memory:');
  readStore = createSqliteReadStore(':memory:');
  bus = createSqliteBus(':memory:', silentLogger);
});
afterEach(async () => {
  await app?.close();
  app = null;
  await bus.close();
  await readStore.close();
  await eventStore.close();
});

async function start(environment: Record<string, string> = {}): Promise<INestApplicationContext> {
  const ports = new Map<symbol, unknown>([
    [EVENT_STORE, eventStore],
    [STORED_EVENTS, eventStore],
    [EVENT_OPENER, createEventOpener(createOwnerKeys(eventStore, kitMasterKey))],
    [AUDIT_SIGNER, createAuditSigner(kitMasterKey)],
    [HEAD_LINES, null],
    [READ_STORE, readStore],
    [SHARED_STATE, createDocumentState(readStore)],
    [LEASES, createSoleLeases()],
    [BUS, bus],
    [VAULT, createEventVault(eventStore, kitMasterKey)],
    [CLOCK, systemClock],
    [IDS, createIds()],
    [LOGGER, silentLogger],
    [KEY_PEPPER, kitPepper],
    [LINK_PEPPER, kitPepper],
    [CONFIG, readConfig(environment, '/nowhere')],
    [OUTBOUND, { request: () => Promise.reject(new Error('no network in this spec')) }],
    [PUBLIC_ADDRESS, { baseUrl: () => Promise.resolve('https://meerkat.example.com') }],
  ]);
  const surroundings: DynamicModule = {
    module: Surroundings,
    providers: [...ports].map(([provide, useValue]) => ({ provide, useValue })),
    exports: [...ports.keys()],
  };
  class Root {}
  Module({ imports: [surroundings, AccountsModule] })(Root);
  app = await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false });
  return app;
}

const ask = async (name: string, payload: JsonObject, organizationId = '') =>
  (await bus.request(name, payload, { organizationId, actor: 'anonymous', requestId: 'req_1' })) as JsonObject;

const text = (value: Json | undefined): string => z.string().parse(value);

const credentials = { email: 'owner@example.com', password: 'correct horse battery' };

describe('the accounts service', () => {
  it('sets the instance up by the printed link, creates a key, shows it and revokes it', async () => {
    const link = await (await start()).get<SetupLink>(SETUP_LINK)('http://localhost:3000/');
    expect(link).toMatch(/^http:\/\/localhost:3000\/setup#token=[A-Za-z0-9_-]{32}$/);
    const setupToken = new URLSearchParams(new URL(link ?? '').hash.slice(1)).get('token') ?? '';
    const answer = await ask(requests.accountSetup, { setupToken, organization: 'Acme', ...credentials });
    const { id: organizationId } = answer['organization'] as { id: string };
    expect(await app?.get<SetupLink>(SETUP_LINK)('http://localhost:3000')).toBeNull();

    const created = await ask(requests.keyCreate, { name: 'CI', scopes: ['read'], expiresAt: null }, organizationId);
    const publicId = text(created['publicId']);
    expect(keyDocument.parse(await readStore.get(keysView, publicId)).revokedAt).toBeNull();
    const keyId = text(created['id']);
    expect(await ask(requests.keyShow, { keyId }, organizationId)).toMatchObject({ id: keyId, name: 'CI' });
    expect(await ask(requests.keyRevoke, { keyId }, organizationId)).toEqual({ id: keyId, deleted: true });
    expect(keyDocument.parse(await readStore.get(keysView, publicId)).revokedAt).not.toBeNull();
  });

  it('opens, shows and closes sessions', async () => {
    await start({ OWNER_EMAIL: credentials.email, OWNER_PASSWORD: credentials.password });
    const opened = await ask(requests.sessionOpen, { ...credentials, address: '203.0.113.7' });
    const token = text(opened['token']);
    expect(await ask(requests.sessionShow, { token })).toMatchObject({ account: { email: credentials.email } });
    expect(await ask(requests.sessionClose, { token })).toEqual({ closed: true });
    await expect(ask(requests.sessionShow, { token })).rejects.toMatchObject({ reason: 'session_ended' });
  });

  it('is not started before the key of the environment is good', async () => {
    const key = createApiKey((size) => new Uint8Array(size).fill(1));
    const environment = {
      OWNER_EMAIL: credentials.email,
      OWNER_PASSWORD: credentials.password,
      OWNER_API_KEY: key,
    };
    await start(environment);
    expect(keyDocument.parse(await readStore.get(keysView, parseApiKey(key)?.publicId ?? '')).scopes).toEqual([
      'admin',
    ]);
    expect(await app?.get<SetupLink>(SETUP_LINK)('http://localhost:3000')).toBeNull();
  });

  it('does not start with a malformed key in the environment', async () => {
    const environment = { OWNER_EMAIL: credentials.email, OWNER_PASSWORD: credentials.password, OWNER_API_KEY: 'mk_x' };
    await expect(start(environment)).rejects.toBeInstanceOf(ConfigError);
  });
});
