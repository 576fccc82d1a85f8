/** Members, invitations, passwords and second factors, as this service's parts do them together. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import type { OpenSessionInput } from '#contracts/account';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { AppError } from '#runtime/errors';
import { silentLogger } from '#runtime/logger';
import { createAccountsKit, type AccountsKit } from './accounts.kit.js';
import { changePassword, requestReset, resetPassword, showReset } from './change-password.js';
import { homeOrganizationId } from './find-member.js';
import { acceptInvitation, inviteMember, listMembers, removeMember, showInvitation } from './members.js';
import { foundOrganization } from './organizations.js';
import { askingMember, checkPasswordAgain } from './own-account.js';
import { beginSecondFactor, confirmSecondFactor, removeSecondFactor } from './second-factor.js';
import { openSession, showSession } from './sessions.js';
import { setUpByEnvironment } from './setup-by-environment.js';

const owner = { email: 'owner@example.com', password: 'owner horse battery' };
const colleague = { email: 'colleague@example.com', password: 'colleague horse battery' };
const address = '203.0.113.7';
const asking = { actor: 'user:usr_1', requestId: 'req_1' };
const gone = { code: 'NOT_FOUND', reason: 'not_found' };
const wrong = { code: 'UNAUTHORIZED', reason: 'wrong_credentials' };
const ended = { code: 'UNAUTHORIZED', reason: 'session_ended' };

let eventStore: EventStore;
let readStore: ViewStore;
let kit: AccountsKit;
let organizationId: string;

beforeEach(async () => {
  eventStore = createSqliteEventStore(':memory:');
  readStore = createSqliteReadStore(':memory:');
  kit = createAccountsKit(eventStore, readStore);
  const settings = { ...owner, apiKey: null, organization: 'Acme' };
  await kit.ports.views.reachSetup(await setUpByEnvironment(kit.ports, settings, silentLogger));
  organizationId = (await homeOrganizationId(kit.ports)) ?? '';
});
afterEach(async () => {
  await kit.stop();
  await eventStore.close();
  await readStore.close();
});

const signIn = async (pair: { email: string; password: string }, more: Partial<OpenSessionInput> = {}) =>
  (await openSession(kit.ports, { ...pair, address, ...more }, 'req_1')).opened;
const tokenOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

async function invite(email = colleague.email, into = organizationId): Promise<string> {
  const { invited, position } = await inviteMember(kit.ports, into, { email, role: 'editor' }, asking);
  await kit.ports.views.reachOrganization(position);
  return tokenOf(invited.invitationUrl);
}

async function join(token: string, password = colleague.password) {
  const joined = await acceptInvitation(kit.ports, { token, password }, 'req_2');
  await kit.ports.views.reachOrganization(joined.organization);
  return joined.opened;
}

describe('an invitation', () => {
  it('is mailed, shows what it is for, and is taken once', async () => {
    const token = await invite();
    await kit.mailed();
    expect(kit.letters.map(({ to }) => to)).toEqual([colleague.email]);
    expect(kit.letters[0]?.text).toContain(`https://meerkat.example.com/invitations/${token}`);
    expect(await showInvitation(kit.ports, token)).toEqual({ email: colleague.email, organization: 'Acme' });
    const session = await join(token);
    expect(session).toMatchObject({ account: { email: colleague.email, role: 'editor', operator: false } });
    await showSession(kit.ports, session.token);
    await expect(join(token)).rejects.toMatchObject(gone);
    await expect(showInvitation(kit.ports, token)).rejects.toMatchObject(gone);
    expect(await signIn(colleague)).toMatchObject({ role: 'editor' });
  });

  it('ends after a week, and where another takes its place or its member is removed', async () => {
    const first = await invite();
    kit.time.ms += 1_000;
    const second = await invite();
    await expect(join(first)).rejects.toMatchObject(gone);
    kit.time.ms += 7 * 24 * 3_600_000;
    await expect(join(second)).rejects.toMatchObject(gone);
    const third = await invite();
    const { members } = await listMembers(kit.ports, organizationId, { limit: 10, offset: 0 });
    const { id } = members.find(({ status }) => status === 'invited') ?? { id: '' };
    await removeMember(kit.ports, { organizationId, ...asking }, { memberId: id, isOperator: false });
    await expect(join(third)).rejects.toMatchObject(gone);
  });

  it.each(['', '.', 'x', 'a.b.c.d.e', 'x'.repeat(400)])('is not made up: %j', async (token) => {
    await expect(showInvitation(kit.ports, token)).rejects.toMatchObject(gone);
    await expect(showReset(kit.ports, token)).rejects.toMatchObject(gone);
  });

  it('is not altered: each of its parts is under its checksum', async () => {
    const token = await invite();
    for (let place = 0; place < token.length; place += 1) {
      const other = token[place] === '0' ? '1' : '0';
      const altered = token.slice(0, place) + other + token.slice(place + 1);
      await expect(showInvitation(kit.ports, altered)).rejects.toMatchObject(gone);
    }
    await expect(showReset(kit.ports, token)).rejects.toMatchObject(gone);
  });

  it('leaves address and link out of what is stored', async () => {
    const token = await invite('canary.person@example.com');
    const views = await readStore.page(
      { name: 'members', fields: [], indexes: [] },
      { where: [], sort: [], limit: 9, offset: 0, count: false },
    );
    const stored = JSON.stringify([await kit.allEvents(), views]);
    for (const secret of ['canary.person', token, token.slice(token.lastIndexOf('.') + 1)]) {
      expect(stored).not.toContain(secret);
    }
  });
});

describe('a removed member', () => {
  it('is signed out at once and signs in no more', async () => {
    const session = await join(await invite());
    await kit.ports.views.reachOrganization(
      await removeMember(kit.ports, { organizationId, ...asking }, { memberId: session.account.id, isOperator: false }),
    );
    await expect(showSession(kit.ports, session.token)).rejects.toMatchObject(ended);
    await expect(signIn(colleague)).rejects.toMatchObject(wrong);
  });
});

describe('a password', () => {
  it('is changed by who knows it; all other sessions end', async () => {
    const [one, other] = [await signIn(owner), await signIn(owner)];
    const newPassword = 'another horse battery';
    const change = { token: one.token, address, currentPassword: owner.password, newPassword };
    await expect(changePassword(kit.ports, { ...change, currentPassword: 'wrong' }, 'req_2')).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      reason: 'wrong_password',
      details: [{ field: 'currentPassword' }],
    });
    const { opened } = await changePassword(kit.ports, change, 'req_3');
    await showSession(kit.ports, opened.token);
    for (const { token } of [one, other]) await expect(showSession(kit.ports, token)).rejects.toMatchObject(ended);
    await expect(signIn(owner)).rejects.toMatchObject(wrong);
    await signIn({ ...owner, password: newPassword });
  });

  it('is guessed as seldom as when signing in', async () => {
    const { token } = await signIn(owner);
    const guess = { token, address, currentPassword: 'wrong', newPassword: 'another horse battery' };
    for (let i = 0; i < 10; i += 1) {
      await expect(changePassword(kit.ports, guess, 'req_2')).rejects.toMatchObject({ reason: 'wrong_password' });
    }
    await expect(
      changePassword(kit.ports, { ...guess, currentPassword: owner.password }, 'req_2'),
    ).rejects.toMatchObject({ code: 'RATE_LIMITED', reason: 'too_many_attempts' });
  });

  it('is set by a mailed link: once, within an hour, and every session ends', async () => {
    const session = await signIn(owner);
    requestReset(kit.ports, 'OWNER@example.com', 'req_2');
    requestReset(kit.ports, 'nobody@example.com', 'req_3');
    await kit.mailed();
    expect(kit.letters.map(({ to }) => to)).toEqual([owner.email]);
    const token = tokenOf(/https:\S+/.exec(kit.letters[0]?.text ?? '')?.[0] ?? '');
    expect(await showReset(kit.ports, token)).toEqual({ email: owner.email, organization: 'Acme' });
    const newPassword = 'another horse battery';
    kit.time.ms += 3_599_999;
    await resetPassword(kit.ports, { token, newPassword, address }, 'req_4');
    await expect(showSession(kit.ports, session.token)).rejects.toMatchObject(ended);
    await expect(resetPassword(kit.ports, { token, newPassword, address }, 'req_5')).rejects.toMatchObject(gone);
    await signIn({ ...owner, password: newPassword });
    requestReset(kit.ports, owner.email, 'req_6');
    await kit.mailed();
    const late = tokenOf(/https:\S+/.exec(kit.letters[1]?.text ?? '')?.[0] ?? '');
    kit.time.ms += 3_600_000;
    await expect(resetPassword(kit.ports, { token: late, newPassword, address }, 'req_7')).rejects.toMatchObject(gone);
  });

  it('that is set by a link lets its owner in, though others have guessed at the account from everywhere', async () => {
    for (let i = 0; i < 10; i += 1) {
      await expect(signIn({ ...owner, password: 'wrong' }, { address: `10.0.0.${i}` })).rejects.toMatchObject(wrong);
    }
    await expect(signIn(owner, { address: 'abroad' })).rejects.toMatchObject({ reason: 'too_many_attempts' });
    requestReset(kit.ports, owner.email, 'req_2');
    await kit.mailed();
    const token = tokenOf(/https:\S+/.exec(kit.letters[0]?.text ?? '')?.[0] ?? '');
    const newPassword = 'another horse battery';
    await resetPassword(kit.ports, { token, newPassword, address: 'abroad' }, 'req_3');
    await signIn({ ...owner, password: newPassword }, { address: 'abroad' });
  });

  it('is mailed a link for no more than three times in a quarter of an hour', async () => {
    for (let i = 0; i < 8; i += 1) requestReset(kit.ports, owner.email, `req_${i}`);
    await kit.mailed();
    expect(kit.letters).toHaveLength(3);
  });
});

describe('an address that looks like that of a member', () => {
  it.each([
    ['sam@example.com', 'ſam@example.com'],
    ['kim@example.com', '\u212aim@example.com'],
    ['ivan@example.com', 'İvan@example.com'],
    ['owner0@example.com', 'ｏwner0@example.com'],
  ])('is not %s but %s: it signs nobody in, and is mailed no link', async (email, alike) => {
    await join(await invite(email));
    await kit.mailed();
    const mailed = kit.letters.length;
    await expect(signIn({ email: alike, password: colleague.password })).rejects.toMatchObject(wrong);
    requestReset(kit.ports, alike, 'req_3');
    await kit.mailed();
    expect(kit.letters).toHaveLength(mailed);
    expect(await signIn({ email: email.toUpperCase(), password: colleague.password })).toMatchObject({
      account: { email },
    });
  });
});

describe('an address that belongs to members of two organisations', () => {
  it('signs in to each by its own password, at the cost of one hash', async () => {
    const founded = await foundOrganization(kit.ports, { name: 'Other', ownerEmail: owner.email }, asking);
    await kit.ports.views.reachOrganization(founded.position);
    const second = { email: owner.email, password: 'second horse battery' };
    await join(tokenOf(founded.invitationUrl), second.password);
    let hashes = 0;
    const { passwords } = kit.ports;
    const counted = {
      ...kit.ports,
      passwords: {
        ...passwords,
        matching: (given: string, stored: readonly string[]) => {
          const salts = new Set(stored.map((one) => one.split('$')[4]));
          hashes += salts.size;
          return passwords.matching(given, stored);
        },
      },
    };
    for (const [pair, name] of [
      [owner, 'Acme'],
      [second, 'Other'],
    ] as const) {
      const { opened } = await openSession(counted, { ...pair, address }, 'req_1');
      expect(opened.organization.name).toBe(name);
    }
    expect(hashes).toBe(2);
    await expect(signIn({ ...owner, password: 'neither horse battery' })).rejects.toMatchObject(wrong);
  });

  it('is guessed at ten times, however often somebody signs in to the account that they opened by it elsewhere', async () => {
    const founded = await foundOrganization(kit.ports, { name: 'Other', ownerEmail: 'other@example.com' }, asking);
    await kit.ports.views.reachOrganization(founded.position);
    const taken = { email: owner.email, password: 'thieves horse battery' };
    await join(await invite(owner.email, founded.organization.id), taken.password);
    await signIn(owner, { address: 'home' });
    let from = 0;
    const guess = () =>
      signIn({ ...owner, password: 'a guess' }, { address: `10.0.0.${(from += 1)}` }).catch((error: unknown) =>
        error instanceof AppError ? error.reason : error,
      );
    const answers: unknown[] = [];
    for (let i = 0; i < 12; i += 1) {
      if (i % 4 === 0) await signIn(taken, { address: 'theirs' });
      answers.push(await guess());
    }
    expect(answers.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 'wrong_credentials'));
    expect(answers.slice(10)).toEqual(['too_many_attempts', 'too_many_attempts']);
    // Where they are known they are let in to their own account, which frees no guess, and to that alone.
    for (let i = 0; i < 3; i += 1) await signIn(taken, { address: 'theirs' });
    await expect(signIn(owner, { address: 'theirs' })).rejects.toMatchObject(wrong);
    expect(await guess()).toBe('too_many_attempts');
    expect((await signIn(owner, { address: 'home' })).organization.name).toBe('Acme');
  });

  it('names the organisation where the passwords are the same too', async () => {
    const founded = await foundOrganization(kit.ports, { name: 'Other', ownerEmail: owner.email }, asking);
    await kit.ports.views.reachOrganization(founded.position);
    await join(tokenOf(founded.invitationUrl), owner.password);
    expect((await signIn(owner)).organization.name).toBe('Acme');
    expect((await signIn(owner, { organizationId: founded.organization.id })).organization.name).toBe('Other');
    await expect(signIn(owner, { organizationId: 'org_x' })).rejects.toMatchObject(wrong);
  });
});

describe('a second factor', () => {
  async function turnOn(): Promise<{
    code: (ms?: number) => string;
    recoveryCodes: readonly string[];
    memberId: string;
  }> {
    const { account } = await signIn(owner);
    const context = { actor: `user:${account.id}`, organizationId };
    const { begun } = await beginSecondFactor(kit.ports, await askingMember(kit.ports, context), asking);
    expect(begun.otpauthUrl).toMatch(/^otpauth:\/\/totp\/Meerkat%20meerkat\.example\.com:owner%40example\.com\?/);
    expect(begun.recoveryCodes).toHaveLength(10);
    const secret = Secret.fromBase32(begun.secret);
    const code = (ms = kit.time.ms): string => new TOTP({ secret }).generate({ timestamp: ms });
    await signIn(owner);
    await confirmSecondFactor(kit.ports, await askingMember(kit.ports, context), code(), asking);
    return { code, recoveryCodes: begun.recoveryCodes, memberId: account.id };
  }

  it('is asked for once it is confirmed; without a code the password is told to be right, with a wrong one nothing is', async () => {
    const { code } = await turnOn();
    await expect(signIn(owner)).rejects.toMatchObject({ code: 'UNAUTHORIZED', reason: 'second_factor_required' });
    kit.time.ms += 60_000;
    await expect(signIn(owner, { code: '000000' })).rejects.toMatchObject(wrong);
    await expect(signIn({ ...owner, password: 'x' }, { code: code() })).rejects.toMatchObject(wrong);
    expect(await signIn(owner, { code: code() })).toMatchObject({ account: { secondFactor: 'on' } });
  });

  it('takes each code once, that of its confirmation included, however many ask at once', async () => {
    const { code } = await turnOn();
    await expect(signIn(owner, { code: code() })).rejects.toMatchObject(wrong);
    kit.time.ms += 60_000;
    const tries = await Promise.allSettled([1, 2, 3, 4].map(() => signIn(owner, { code: code() })));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('takes codes of the step before and after, and no older ones', async () => {
    const { code } = await turnOn();
    kit.time.ms += 300_000;
    await expect(signIn(owner, { code: code(kit.time.ms - 60_000) })).rejects.toMatchObject(wrong);
    await signIn(owner, { code: code(kit.time.ms - 30_000) });
    await signIn(owner, { code: code(kit.time.ms + 30_000) });
  });

  it('takes each recovery code once, however it is written', async () => {
    const { recoveryCodes } = await turnOn();
    const [first = '', second = ''] = recoveryCodes;
    await signIn(owner, { code: ` ${first.toUpperCase().replaceAll('-', ' ')}` });
    await expect(signIn(owner, { code: first })).rejects.toMatchObject(wrong);
    const tries = await Promise.allSettled([1, 2, 3].map(() => signIn(owner, { code: second })));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is guessed ten times, then not even with the right code', async () => {
    const { code } = await turnOn();
    kit.time.ms += 60_000;
    for (let i = 0; i < 10; i += 1) {
      await expect(signIn(owner, { code: '000000', address: `10.0.0.${i}` })).rejects.toMatchObject(wrong);
    }
    await expect(signIn(owner, { code: code(), address: '10.0.1.1' })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('is turned off with password and code', async () => {
    const { code, memberId } = await turnOn();
    kit.time.ms += 60_000;
    const found = await askingMember(kit.ports, { actor: `user:${memberId}`, organizationId });
    const again = { password: 'wrong', address, field: 'password' };
    await expect(checkPasswordAgain(kit.ports, found, again)).rejects.toMatchObject({ reason: 'wrong_password' });
    await expect(removeSecondFactor(kit.ports, found, '000000', asking)).rejects.toMatchObject({
      reason: 'wrong_code',
    });
    await removeSecondFactor(kit.ports, found, code(), asking);
    await signIn(owner);
  });

  it('leaves secret and recovery codes out of what is stored', async () => {
    const { recoveryCodes } = await turnOn();
    const stored = JSON.stringify(await kit.allEvents());
    expect(stored).toContain('second_factor_begun');
    for (const code of recoveryCodes) {
      expect(stored).not.toContain(code);
      expect(stored).not.toContain(code.replaceAll('-', ''));
    }
  });
});
