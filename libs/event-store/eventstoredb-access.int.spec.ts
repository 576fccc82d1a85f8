/** Servers that ask who comes: TLS under an authority of one's own, users with passwords, and their rights. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { testCertificate, testKey } from '#outbound/loopback.contract';
import { silentLogger } from '#runtime/logger';
import type { NewEvent } from './event-store.js';
import { createEventStoreDbEventStore } from './eventstoredb.js';
import { createFailingServer } from './eventstoredb.kit.js';

const admin = 'admin:ch@nge-it';
const reader = 'meerkat:s3cret';

const newEvent = (): NewEvent => ({
  id: randomUUID(),
  type: 'a.one',
  version: 1,
  data: {},
  metadata: { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '2026-11-21T10:00:00.000Z' },
});

const asUser = (url: string, user: string): string => {
  const [name = '', password = ''] = user.split(':');
  return url.replace('://', `://${name}:${encodeURIComponent(password)}@`);
};

const open = (url: string) =>
  createEventStoreDbEventStore({ url, installation: `test-${randomUUID()}`, logger: silentLogger });

/** All that the product does on this port; the deeds that were done. */
async function useWhole(url: string): Promise<readonly string[]> {
  const store = await open(url);
  const ending = new AbortController();
  try {
    const done: string[] = [];
    const append = await store.append('a-1', [newEvent(), newEvent()], 'none');
    if (append.ok) done.push('append');
    if ((await store.readLast('a-1'))?.revision === 1) done.push('read');
    for await (const { events } of store.subscribe({ prefixes: ['a-'], after: null, signal: ending.signal })) {
      if (events.length > 0) break;
    }
    done.push('follow');
    await store.truncate('a-1', 1);
    if ((await Array.fromAsync(store.read('a-1'))).length === 1) done.push('truncate');
    return done;
  } finally {
    ending.abort();
    await store.close();
  }
}
const whole = ['append', 'read', 'follow', 'truncate'];

describe.each([
  ['one node', 1],
  ['three nodes', 3],
])('EventStoreDB with TLS and users, on %s,', (_, members) => {
  const folder = mkdtempSync(join(tmpdir(), 'meerkat-eventstoredb-'));
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const tls = ['--certificate', certificate, '--key', key];
  const users = ['--admin', admin, '--user', reader];
  const { server, url } = createFailingServer(folder, members, [...tls, ...users]);
  beforeAll(async () => {
    writeFileSync(certificate, testCertificate);
    writeFileSync(key, testKey);
    await server.start();
  });
  afterAll(async () => {
    await server.kill();
    rmSync(folder, { recursive: true });
  });

  /** By the vendor's own client, as an administrator does. */
  const asAdministrator = async (work: (client: EventStoreDBClient) => Promise<unknown>): Promise<void> => {
    const client = EventStoreDBClient.connectionString(asUser(url(), admin));
    await work(client);
    await client.dispose();
    (await (client as unknown as { getChannel(): Promise<{ close(): void }> }).getChannel()).close();
  };

  it('lets an administrator do everything, with a password of characters that addresses give a meaning', async () => {
    expect(await useWhole(asUser(url(), admin))).toEqual(whole);
  });

  it('says that a password is wrong, at once, and does not repeat it', async () => {
    const refused = open(asUser(url(), 'admin:wr0ng'));
    await expect(refused).rejects.toThrow('refused: the user name and password of EVENT_STORE_URL are not right');
    await expect(refused).rejects.not.toThrow('wr0ng');
  });

  it('says why it does not talk to a server whose certificate nobody vouches for', async () => {
    const address = asUser(url(), admin).replace(/&tlsCAFile=[^&]+/, '');
    await expect(open(address)).rejects.toThrow(/self-signed certificate/);
  });

  it('says what is missing where the address names no user', async () => {
    await expect(open(url())).rejects.toThrow('who names no user, or does not use TLS, may do nothing');
  });

  it('says what a user lacks that may not read `$all`, until the ACL of `$all` names it', async () => {
    await expect(open(asUser(url(), reader))).rejects.toThrow(
      'refused: the user of EVENT_STORE_URL may not do this: it needs a user in $admins',
    );
    await asAdministrator((client) => client.setStreamMetadata('$all', { acl: { readRoles: ['meerkat'] } }));
    expect(await useWhole(asUser(url(), reader))).toEqual(whole);
    await asAdministrator((client) => client.setStreamMetadata('$all', {}));
    await expect(open(asUser(url(), reader))).rejects.toThrow('may not do this');
  });

  it('lets a user do everything whom the default ACL names as the operators are told to', async () => {
    const rights = (roles: unknown) => ({ $r: roles, $w: roles, $d: '$admins', $mr: roles, $mw: roles });
    await asAdministrator((client) =>
      client.appendToStream(
        '$settings',
        jsonEvent({
          type: 'update-default-acl',
          data: {
            $userStreamAcl: rights('meerkat'),
            $systemStreamAcl: { ...rights('$admins'), $r: ['$admins', 'meerkat'] },
          },
        }),
      ),
    );
    expect(await useWhole(asUser(url(), reader))).toEqual(whole);
  });
});
