import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openedSession, sessionDocument, sessionsView } from '#contracts/account';
import { hashSessionToken } from '#contracts/api-key';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { createAccountsKit, kitPepper, kitStartMs, type AccountsKit } from './accounts.kit.js';
import { closeSession, openSession, rotateSession, showSession } from './sessions.js';
import { setUpByEnvironment } from './setup-by-environment.js';

const email = 'Owner.Canary@example.com';
const password = 'canary horse battery';
const address = '203.0.113.7';
const wrong = { code: 'UNAUTHORIZED', reason: 'wrong_credentials', message: 'E-mail, password or code is wrong.' };
const ended = { code: 'UNAUTHORIZED', reason: 'session_ended' };

let eventStore: EventStore;
let readStore: ViewStore;
let kit: AccountsKit;

beforeEach(async () => {
  eventStore = createSqliteEventStore(':memory:');
  readStore = createSqliteReadStore(':memory:');
  kit = createAccountsKit(eventStore, readStore);
  const owner = { email, password, apiKey: null, organization: 'Acme' };
  await kit.ports.views.reachSetup(await setUpByEnvironment(kit.ports, owner, silentLogger));
});
afterEach(async () => {
  await kit.stop();
  await eventStore.close();
  await readStore.close();
});

const open = (more: { email?: string; password?: string; address?: string } = {}) =>
  openSession(kit.ports, { email, password, address, ...more }, 'req_1');

describe('sessions', () => {
  it('open for the right e-mail and password, however the e-mail is capitalised', async () => {
    const { opened } = await open({ email: 'owner.canary@EXAMPLE.com' });
    expect(openedSession.parse(opened)).toEqual(opened);
    expect(opened).toMatchObject({
      account: { email, role: 'owner' },
      organization: { name: 'Acme' },
      role: 'owner',
      expiresAt: '2026-11-08T00:00:00.000Z',
    });
  });

  it('are found by their token until they are closed', async () => {
    const { opened, position } = await open();
    const { token, ...shown } = opened;
    const id = hashSessionToken(token, kitPepper);
    await kit.ports.views.reachSession(position);
    expect(sessionDocument.parse(await readStore.get(sessionsView, id))).toMatchObject({ userId: shown.account.id });
    expect(await showSession(kit.ports, token)).toEqual(shown);
    await kit.ports.views.reachSession(await closeSession(kit.ports, token, 'req_2'));
    expect(await readStore.get(sessionsView, id)).toBeNull();
    await expect(showSession(kit.ports, token)).rejects.toMatchObject(ended);
    expect(await closeSession(kit.ports, token, 'req_3')).toBeNull();
  });

  it('end after a day without use', async () => {
    const { opened } = await open();
    expect(opened.idleExpiresAt).toBe('2026-11-02T00:00:00.000Z');
    kit.time.ms += 24 * 3_600_000 - 1;
    await showSession(kit.ports, opened.token);
    kit.time.ms += 1;
    await expect(showSession(kit.ports, opened.token)).rejects.toMatchObject(ended);
  });

  it('end after a week of use, whatever tokens they had', async () => {
    const { opened } = await open();
    let { token } = opened;
    for (let hours = 20; hours < 7 * 24; hours += 20) {
      kit.time.ms = kitStartMs + hours * 3_600_000;
      const next = (await rotateSession(kit.ports, token, 'req_2')).opened;
      expect(next.expiresAt).toBe(opened.expiresAt);
      ({ token } = next);
    }
    kit.time.ms = Date.parse(opened.expiresAt) - 1;
    await showSession(kit.ports, token);
    kit.time.ms += 1;
    await expect(showSession(kit.ports, token)).rejects.toMatchObject(ended);
    await expect(rotateSession(kit.ports, token, 'req_3')).rejects.toMatchObject(ended);
  });

  it('go on under one other token, and for a minute under the one before', async () => {
    const { token } = (await open()).opened;
    const tries = await Promise.allSettled([1, 2, 3].map(() => rotateSession(kit.ports, token, 'req_2')));
    const next = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(next).toHaveLength(1);
    kit.time.ms += 59_999;
    await showSession(kit.ports, token);
    kit.time.ms += 1;
    await expect(showSession(kit.ports, token)).rejects.toMatchObject(ended);
    await showSession(kit.ports, next[0]?.opened.token ?? '');
    // Those that came too late left no session open.
    const opened = (await kit.allEvents()).filter(({ type }) => type === 'session.opened');
    const closed = (await kit.allEvents()).filter(({ type }) => type === 'session.closed');
    expect(opened.length - closed.length).toBe(2);
  });

  it.each([0, 1, 2])('are closed as a whole by any of their tokens, such as number %i', async (closing) => {
    const first = (await open()).opened;
    const second = (await rotateSession(kit.ports, first.token, 'req_2')).opened;
    const third = (await rotateSession(kit.ports, second.token, 'req_3')).opened;
    const tokens = [first.token, second.token, third.token];
    for (const one of tokens) await showSession(kit.ports, one);
    await closeSession(kit.ports, tokens[closing] ?? '', 'req_4');
    for (const one of tokens) {
      await expect(showSession(kit.ports, one)).rejects.toMatchObject(ended);
      await expect(rotateSession(kit.ports, one, 'req_5')).rejects.toMatchObject(ended);
    }
  });

  it.each(['', 'x', 'x'.repeat(200), '\u0000', '../key-1'])('are not found by the token %j', async (token) => {
    await expect(showSession(kit.ports, token)).rejects.toMatchObject(ended);
    expect(await closeSession(kit.ports, token, 'req_1')).toBeNull();
  });

  it.each([
    ['a wrong password', { password: 'wrong horse battery' }],
    ['an unknown address', { email: 'nobody@example.com' }],
    ['nothing', { email: '', password: '' }],
    ['a NUL behind the address', { email: `${email}\u0000` }],
    ['a NUL behind the password', { password: `${password}\u0000` }],
    ['markup', { email: "' OR 1=1 --", password: '${7*7}' }],
    ['a lone surrogate', { email: '\ud800', password: '\udfff' }],
    ['long ones', { email: 'x'.repeat(1_000), password: 'x'.repeat(1_000) }],
  ])('are refused in the same words for %s', async (_, pair) => {
    const error = await open(pair).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(wrong);
    expect(error).toHaveProperty('details', undefined);
  });

  it('cost one hash whether the e-mail belongs to a member or not', async () => {
    const compared: (readonly string[])[] = [];
    const { passwords } = kit.ports;
    const watched = {
      ...kit.ports,
      passwords: {
        ...passwords,
        matching: (given: string, stored: readonly string[]) => {
          compared.push(stored);
          return passwords.matching(given, stored);
        },
      },
    };
    for (const one of [email, 'nobody@example.com']) {
      await openSession(watched, { email: one, password: 'wrong horse battery', address }, 'req_1').catch(() => null);
    }
    expect(compared).toEqual([[expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)], []]);
  });

  it('are refused after ten wrong passwords for the account, with the right one and concurrently too', async () => {
    const tries = await Promise.allSettled(
      Array.from({ length: 15 }, (_, i) => open({ password: 'wrong', address: `10.0.0.${i}` })),
    );
    const reasons = tries.map((one) =>
      one.status === 'rejected' ? (one.reason as { reason: string }).reason : 'open',
    );
    expect(reasons.filter((reason) => reason === 'wrong_credentials')).toHaveLength(10);
    expect(reasons.filter((reason) => reason === 'too_many_attempts')).toHaveLength(5);
    await expect(open({ address: '10.0.9.1' })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      reason: 'too_many_attempts',
      retryAfterSeconds: 900,
    });
    kit.time.ms += 900_000;
    await open();
  });

  it('are refused after ten wrong passwords from an address, for whatever accounts they were', async () => {
    for (let i = 0; i < 10; i += 1) {
      await expect(open({ email: `nobody${i}@example.com` })).rejects.toMatchObject(wrong);
    }
    await expect(open()).rejects.toMatchObject({ reason: 'too_many_attempts' });
    await open({ address: '203.0.113.8' });
  });

  it('leave password, e-mail and token out of events and views', async () => {
    const { opened, position } = await open();
    await open({ password: 'wrong-canary' }).catch(() => null);
    await kit.ports.views.reachSession(position);
    const views = await readStore.page(sessionsView, { where: [], sort: [], limit: 9, offset: 0, count: false });
    const stored = JSON.stringify([await kit.allEvents(), views]).toLowerCase();
    for (const secret of [password, 'wrong-canary', email, opened.token]) {
      expect(stored).not.toContain(secret.toLowerCase());
    }
  });
});
