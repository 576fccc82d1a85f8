import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keyDocument, keysView, setupAnswer, setupInput, type SetupInput } from '#contracts/account';
import { createApiKey, hashApiKey, parseApiKey } from '#contracts/api-key';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger, type Logger } from '#runtime/logger';
import { Crash, crashing, createAccountsKit, kitPepper, type AccountsKit } from './accounts.kit.js';
import type { AccountPorts } from './ports.js';
import { openSetup, setUpByToken } from './setup.js';
import { checkOwnerSettings, setUpByEnvironment } from './setup-by-environment.js';

const alreadySetUp = { code: 'NOT_FOUND', reason: 'already_set_up' };
const wrongToken = { code: 'UNAUTHORIZED', reason: 'invalid_setup_token' };

let eventStore: EventStore;
let readStore: ViewStore;
let kit: AccountsKit;

beforeEach(() => {
  eventStore = createSqliteEventStore(':memory:');
  readStore = createSqliteReadStore(':memory:');
  kit = createAccountsKit(eventStore, readStore);
});
afterEach(async () => {
  await kit.stop();
  await eventStore.close();
  await readStore.close();
});

async function inputFor(more: Partial<SetupInput> = {}): Promise<SetupInput> {
  const token = (await openSetup(kit.ports)) ?? 'no-token';
  return {
    setupToken: token,
    organization: 'Acme',
    email: 'Owner.Canary@example.com',
    password: 'canary horse battery',
    ...more,
  };
}

async function typesOf(): Promise<readonly string[]> {
  return (await kit.allEvents()).map(({ type }) => type).filter((type) => !type.startsWith('vault.'));
}

async function keysInView() {
  const { documents } = await readStore.page(keysView, { where: [], sort: [], limit: 100, offset: 0, count: false });
  return documents.map((document) => keyDocument.parse(document));
}

const crashedPorts = (prefix: string, when: 'before' | 'after'): AccountPorts => ({
  ...kit.ports,
  eventStore: crashing(eventStore, prefix, when),
});

describe('setup by the link', () => {
  it('creates the organisation, its owner and a first admin key, which is good at once', async () => {
    const { answer, positions } = await setUpByToken(kit.ports, await inputFor(), 'req_1');
    expect(setupAnswer.parse(answer)).toEqual(answer);
    expect(answer).toMatchObject({
      organization: { name: 'Acme', plan: 'enterprise', createdAt: '2026-11-01T00:00:00.000Z' },
      account: { email: 'Owner.Canary@example.com', role: 'owner' },
    });
    await kit.ports.views.reachSetup(positions);
    const publicId = parseApiKey(answer.apiKey)?.publicId ?? '';
    const key = keyDocument.parse(await readStore.get(keysView, publicId));
    expect(key).toMatchObject({ scopes: ['admin'], organizationId: answer.organization.id, revokedAt: null });
    expect(key.hash).toBe(hashApiKey(answer.apiKey, kitPepper));
  });

  it('works once: afterwards the right token and a wrong one are answered alike', async () => {
    const input = await inputFor();
    await setUpByToken(kit.ports, input, 'req_1');
    const before = (await kit.allEvents()).length;
    await expect(setUpByToken(kit.ports, input, 'req_2')).rejects.toMatchObject(alreadySetUp);
    await expect(setUpByToken(kit.ports, { ...input, setupToken: 'x' }, 'req_3')).rejects.toMatchObject(alreadySetUp);
    expect(await openSetup(kit.ports)).toBeNull();
    expect((await kit.allEvents()).length).toBe(before);
  });

  it.each(['', 'x', 'x'.repeat(200), '\u0000', '👩‍🚀'])(
    'refuses the token %j before it hashes or stores anything',
    async (token) => {
      await openSetup(kit.ports);
      const input = await inputFor({ setupToken: token });
      await expect(setUpByToken(kit.ports, input, 'req_1')).rejects.toMatchObject(wrongToken);
      expect(await typesOf()).toEqual(['installation.opened']);
    },
  );

  it('refuses every token where no link was ever printed', async () => {
    const input = { setupToken: 'x', organization: 'Acme', email: 'a@example.com', password: 'x'.repeat(12) };
    await expect(setUpByToken(kit.ports, input, 'req_1')).rejects.toMatchObject(wrongToken);
  });

  it('keeps its token over restarts, stores nothing of it, and gives a wiped installation another', async () => {
    const token = (await openSetup(kit.ports)) ?? '';
    expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect(await openSetup(kit.ports)).toBe(token);
    expect(JSON.stringify(await kit.allEvents())).not.toContain(token);
    const wiped = createSqliteEventStore(':memory:');
    expect(await openSetup({ ...kit.ports, eventStore: wiped })).not.toBe(token);
    await wiped.close();
  });

  it('prints one token however many processes start at once', async () => {
    const tokens = await Promise.all(Array.from({ length: 5 }, () => openSetup(kit.ports)));
    expect(new Set(tokens).size).toBe(1);
    expect(await typesOf()).toEqual(['installation.opened']);
  });

  it('creates one organisation for several concurrent setups, and refuses all but one of them', async () => {
    const input = await inputFor();
    const tries = Array.from({ length: 6 }, (_, i) =>
      // The same request id each time: clients choose it.
      setUpByToken(kit.ports, { ...input, email: `owner${i}@example.com` }, 'req_same'),
    );
    const outcomes = await Promise.allSettled(tries);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(alreadySetUp);
    }
    const types = await typesOf();
    for (const type of ['installation.claimed', 'organization.created', 'member.added', 'key.created']) {
      expect(types.filter((one) => one === type)).toHaveLength(1);
    }
  });

  it.each([
    ['installation', 'before'],
    ['installation', 'after'],
    ['org-', 'before'],
    ['org-', 'after'],
    ['key-', 'before'],
  ] as const)('goes on after a crash at the append to %s (%s it was written)', async (prefix, when) => {
    const input = await inputFor();
    await expect(setUpByToken(crashedPorts(prefix, when), input, 'req_1')).rejects.toThrow(Crash);
    expect(await openSetup(kit.ports)).toBe(input.setupToken);
    const { answer } = await setUpByToken(kit.ports, input, 'req_2');
    expect(parseApiKey(answer.apiKey)).not.toBeNull();
    expect(await typesOf()).toEqual([
      'installation.opened',
      'installation.claimed',
      'organization.created',
      'member.added',
      'key.created',
    ]);
    await expect(setUpByToken(kit.ports, input, 'req_3')).rejects.toMatchObject(alreadySetUp);
  });

  it('is complete where only the answer was lost', async () => {
    const input = await inputFor();
    await expect(setUpByToken(crashedPorts('key-', 'after'), input, 'req_1')).rejects.toThrow(Crash);
    await expect(setUpByToken(kit.ports, input, 'req_2')).rejects.toMatchObject(alreadySetUp);
    expect(await openSetup(kit.ports)).toBeNull();
  });

  it('is finished by the owner alone once the owner has begun it', async () => {
    const input = await inputFor();
    await expect(setUpByToken(crashedPorts('key-', 'before'), input, 'req_1')).rejects.toThrow(Crash);
    for (const other of [{ email: 'thief@example.com' }, { password: 'another password' }]) {
      await expect(setUpByToken(kit.ports, { ...input, ...other }, 'req_2')).rejects.toMatchObject(alreadySetUp);
    }
    expect(await typesOf()).not.toContain('key.created');
  });

  it('takes another e-mail where nothing of the first was stored', async () => {
    const input = await inputFor();
    await expect(setUpByToken(crashedPorts('org-', 'before'), input, 'req_1')).rejects.toThrow(Crash);
    const { answer } = await setUpByToken(kit.ports, { ...input, email: 'other@example.com' }, 'req_2');
    expect(answer.account.email).toBe('other@example.com');
  });

  it('leaves password, e-mail, token and key out of every event', async () => {
    const input = await inputFor({ password: 'canary-pässword-🔒' });
    const { answer } = await setUpByToken(kit.ports, input, 'req_1');
    const stored = JSON.stringify(await kit.allEvents());
    const secretOfKey = answer.apiKey.slice(12);
    for (const secret of [input.password, input.setupToken, answer.apiKey, secretOfKey, input.email, 'owner.canary']) {
      expect(stored.toLowerCase()).not.toContain(secret.toLowerCase());
    }
    expect(stored).toContain('"$sealed"');
    expect(stored).toContain('$argon2id$');
  });

  it.each([
    ['an odd password', { password: 'nul\u0000nul\u0000nul\u0000' }],
    ['an emoji password', { password: '👩‍🚀'.repeat(12) }],
    ['a password of 1,000 characters', { password: 'x'.repeat(1_000) }],
    ['an address of another script', { email: 'größe@пример.рф' }],
    ['a name with markup', { organization: '<script>alert(1)</script>' }],
  ])('takes %s', async (_, more) => {
    const input = setupInput.parse(await inputFor(more));
    const { answer } = await setUpByToken(kit.ports, input, 'req_1');
    expect(answer.account.email).toBe(input.email);
  });

  it.each([
    ['password', 'x'.repeat(11)],
    ['password', 'x'.repeat(1_000_000)],
    ['email', 'a\u0000@example.com'],
    ['email', 'a@example.com\r\nBcc: b@example.com'],
    ['email', 'a@b@example.com'],
    ['email', 'x'.repeat(1_000_000)],
    ['email', `${'a'.repeat(60)}@${'b'.repeat(200)}`],
    ['email', 'a\ud800@example.com'],
    ['email', 'a\u202e@example.com'],
    ['email', 'ſam@example.com'],
    ['email', 'ｏwner@example.com'],
    ['organization', ''],
    ['organization', ' \t '],
    ['organization', 'Acme\u0000'],
    ['organization', 'Acme\u001b[2J'],
    ['organization', 'x'.repeat(201)],
  ])('refuses as %s the value %j', async (field, value) => {
    const parsed = setupInput.safeParse({ ...(await inputFor()), [field]: value });
    expect(parsed.error?.issues.every((issue) => issue.path[0] === field)).toBe(true);
  });
});

describe('setup by the environment', () => {
  const owner = { email: 'owner@example.com', password: 'canary horse battery', apiKey: null, organization: 'Acme' };
  const bytes = (seed: number) => (size: number) => new Uint8Array(size).fill(seed);
  const [first, second] = [createApiKey(bytes(1)), createApiKey(bytes(2))];
  const run = async (apiKey: string | null, ports: AccountPorts = kit.ports, logger: Logger = silentLogger) => {
    const positions = await setUpByEnvironment(ports, { ...owner, apiKey }, logger);
    await kit.ports.views.reachSetup(positions);
  };

  it('creates the organisation and the key, and changes nothing at the next start', async () => {
    await run(first);
    const before = await kit.allEvents();
    expect(before.map(({ type }) => type).filter((type) => !type.startsWith('vault.'))).toEqual([
      'installation.claimed',
      'organization.created',
      'member.added',
      'installation.owner_key_chosen',
      'key.created',
    ]);
    await run(first);
    await run(null);
    expect(await kit.allEvents()).toHaveLength(before.length);
    const [key] = await keysInView();
    expect(key).toMatchObject({ scopes: ['admin'], revokedAt: null, hash: hashApiKey(first, kitPepper) });
    expect(JSON.stringify(before)).not.toContain(first.slice(12, 52));
  });

  it('makes the printed link useless', async () => {
    const input = await inputFor();
    await run(null);
    expect(await openSetup(kit.ports)).toBeNull();
    await expect(setUpByToken(kit.ports, input, 'req_1')).rejects.toMatchObject(alreadySetUp);
  });

  it('adds a changed key and revokes the former one', async () => {
    await run(first);
    await run(second);
    const keys = new Map((await keysInView()).map((key) => [key.publicId, key.revokedAt]));
    expect(keys.get(parseApiKey(second)?.publicId ?? '')).toBeNull();
    expect(keys.get(parseApiKey(first)?.publicId ?? '')).not.toBeNull();
    await run(second);
    expect((await typesOf()).filter((type) => type === 'key.revoked')).toHaveLength(1);
  });

  it('accepts a key again that it had revoked', async () => {
    for (const key of [first, second, first]) await run(key);
    const keys = new Map((await keysInView()).map((key) => [key.publicId, key.revokedAt]));
    expect(keys.get(parseApiKey(first)?.publicId ?? '')).toBeNull();
    expect(keys.get(parseApiKey(second)?.publicId ?? '')).not.toBeNull();
  });

  it.each([
    ['installation', 'after'],
    ['org-', 'before'],
    ['org-', 'after'],
    ['key-', 'before'],
    ['key-', 'after'],
  ] as const)(
    'goes on at the next start after a crash at the append to %s (%s it was written)',
    async (prefix, when) => {
      await expect(run(first, crashedPorts(prefix, when))).rejects.toThrow(Crash);
      await run(first);
      await expect(run(second, crashedPorts('key-', when))).rejects.toThrow(Crash);
      await run(second);
      const keys = await keysInView();
      expect(keys.filter(({ revokedAt }) => revokedAt === null).map(({ publicId }) => publicId)).toEqual([
        parseApiKey(second)?.publicId,
      ]);
      expect((await typesOf()).filter((type) => type === 'organization.created')).toHaveLength(1);
    },
  );

  it('creates each thing once when several processes start at once', async () => {
    await Promise.all(Array.from({ length: 4 }, () => run(first)));
    const types = await typesOf();
    expect([...types].sort()).toEqual([
      'installation.claimed',
      'installation.owner_key_chosen',
      'key.created',
      'member.added',
      'organization.created',
    ]);
  });

  it('keeps an owner who set the instance up with another e-mail, and warns', async () => {
    await setUpByToken(kit.ports, await inputFor(), 'req_1');
    const warnings: string[] = [];
    await run(first, kit.ports, { ...silentLogger, warn: (_, message) => warnings.push(message) });
    expect(warnings).toEqual([expect.stringContaining('OWNER_EMAIL')]);
    expect((await typesOf()).filter((type) => type === 'member.added')).toHaveLength(1);
  });

  it('names each setting that is wrong, and repeats no secret', () => {
    expect(checkOwnerSettings({ owner: null })).toEqual([]);
    expect(checkOwnerSettings({ owner: { ...owner, apiKey: first } })).toEqual([]);
    const bad = { email: 'nobody', password: 'short', apiKey: `${first.slice(0, -1)}_`, organization: ' ' };
    const faults = checkOwnerSettings({ owner: bad });
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      'OWNER_EMAIL',
      'OWNER_PASSWORD',
      'OWNER_ORGANIZATION',
      'OWNER_API_KEY',
    ]);
    expect(faults.join()).not.toContain(bad.apiKey);
    expect(faults.join()).not.toContain(bad.password);
  });

  it.each(['ſam@example.com', '\u212aim@example.com', 'İvan@example.com', 'ｏwner@example.com'])(
    'refuses %s as OWNER_EMAIL, and says how to write it',
    (email) => {
      expect(checkOwnerSettings({ owner: { ...owner, email } })).toEqual([
        'OWNER_EMAIL: must be an e-mail address such as owner@example.com, in plain letters: s for ſ, and none of full width.',
      ]);
    },
  );
});
