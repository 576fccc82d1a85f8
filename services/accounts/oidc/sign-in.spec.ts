import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import type { OidcProvider } from '#runtime/oidc-settings';
import { silentLogger } from '#runtime/logger';
import { createAccountsKit, type AccountsKit } from '../accounts.kit.js';
import { homeOrganizationId } from '../find-member.js';
import { acceptInvitation, inviteMember } from '../members.js';
import { foundOrganization } from '../organizations.js';
import { setUpByEnvironment } from '../setup-by-environment.js';
import type { Claims } from './provider.js';
import { beginProviderSignIn, finishProviderSignIn } from './sign-in.js';

const owner = { email: 'owner0@corp.example', password: 'owner horse battery', apiKey: null, organization: 'Acme' };
const provider: OidcProvider = {
  id: 'corp',
  issuer: 'https://login.corp.example',
  clientId: 'meerkat',
  clientSecret: 'x',
  name: 'Corp',
  groups: [],
  signUp: false,
};
const noMember = { code: 'FORBIDDEN', reason: 'no_member' };

let eventStore: EventStore;
let readStore: ViewStore;
let kit: AccountsKit;

beforeEach(async () => {
  eventStore = createSqliteEventStore(':memory:');
  readStore = createSqliteReadStore(':memory:');
  kit = createAccountsKit(eventStore, readStore);
  await kit.ports.views.reachSetup(await setUpByEnvironment(kit.ports, owner, silentLogger));
});
afterEach(async () => {
  await kit.stop();
  await eventStore.close();
  await readStore.close();
});

type Said = Readonly<Record<'email' | 'email_verified', unknown>> & Pick<Claims, 'sub'>;

/** As whom the provider says somebody is. */
async function signIn(said: Said, settings: Partial<OidcProvider> = {}) {
  const client = {
    begin: (redirectUri: string) =>
      Promise.resolve({ url: redirectUri, secrets: { state: 's', nonce: 'n', verifier: 'v' } }),
    finish: () => Promise.resolve({ ...said, iss: provider.issuer }),
  };
  const ports = { ...kit.ports, providers: new Map([['corp', { settings: { ...provider, ...settings }, client }]]) };
  const { ticket } = await beginProviderSignIn(ports, { id: 'corp', to: '/' });
  const { opened, organization } = await finishProviderSignIn(ports, { id: 'corp', query: '?code=x', ticket }, 'req_1');
  await kit.ports.views.reachOrganization(organization);
  return opened;
}

const verified = (email: string, sub: string = email) => ({ sub, email, email_verified: true });

describe('an address that the provider says', () => {
  it('is that of a member where it was verified, whatever its case', async () => {
    expect((await signIn(verified('Owner0@CORP.example'))).account.email).toBe(owner.email);
    for (const email_verified of [false, 'false', undefined, 1]) {
      const claims = { sub: 'other', email: owner.email, email_verified };
      await expect(signIn(claims)).rejects.toMatchObject(noMember);
    }
  });

  it.each([
    'ｏwner0@corp.example',
    'owner0@ｃorp.example',
    'ºwner0@corp.example',
    'owner0@corp.e\u2179ample',
    'owner0@corp.examp\u2113e',
    'owner0 @corp.example',
    'owner0@corp.example\u0000',
  ])('is nobody’s, and signs nobody up, where it only looks like one: %s', async (email) => {
    await expect(signIn(verified(email))).rejects.toMatchObject(noMember);
    await expect(signIn(verified(email), { signUp: true })).rejects.toMatchObject(noMember);
  });

  it.each(['ſam@corp.example', '\u212aim@corp.example', 'İvan@corp.example'])(
    'signs nobody up where it has letters that stand for others: %s',
    async (email) => {
      await expect(signIn(verified(email), { signUp: true })).rejects.toMatchObject(noMember);
    },
  );
});

describe('who comes by the provider alone', () => {
  const person = 'person@corp.example';
  const asking = { actor: 'system:spec', requestId: 'req_1' };
  let home: string;
  let other: string;

  beforeEach(async () => {
    home = (await homeOrganizationId(kit.ports)) ?? '';
    const input = { name: 'Other', ownerEmail: 'owner@other.example' };
    const founded = await foundOrganization(kit.ports, input, asking);
    await kit.ports.views.reachOrganization(founded.position);
    other = founded.organization.id;
  });

  async function invite(organizationId: string): Promise<string> {
    const { invited, position } = await inviteMember(
      kit.ports,
      organizationId,
      { email: person, role: 'editor' },
      asking,
    );
    await kit.ports.views.reachOrganization(position);
    return invited.invitationUrl.slice(invited.invitationUrl.lastIndexOf('/') + 1);
  }

  /** Whoever holds the link: it proves nothing about the address. */
  async function joinByLink(organizationId: string): Promise<void> {
    const taken = { token: await invite(organizationId), password: 'somebody horse battery' };
    await kit.ports.views.reachOrganization((await acceptInvitation(kit.ports, taken, 'req_2')).organization);
  }

  const arrive = async (settings: Partial<OidcProvider> = {}) =>
    (await signIn(verified(person), settings)).organization.name;

  it('takes an invitation of the first organisation, and none of another: that needs its link', async () => {
    await invite(other);
    await expect(arrive()).rejects.toMatchObject(noMember);
    await invite(home);
    expect(await arrive()).toBe('Acme');
  });

  it('is signed up in the first organisation, also where another one has invited the address or has an account of it', async () => {
    await joinByLink(other);
    expect(await arrive({ signUp: true })).toBe('Acme');
  });

  it.each([
    ['an account', joinByLink],
    ['an invitation', invite],
  ])('has %s of the first organisation before an older account of another', async (_, begin) => {
    await joinByLink(other);
    kit.time.ms += 1_000;
    await begin(home);
    expect(await arrive()).toBe('Acme');
    expect(await arrive()).toBe('Acme');
  });

  it('is signed in to their account in another organisation where the first has none for them', async () => {
    await joinByLink(other);
    expect(await arrive()).toBe('Other');
    // Known by the provider there: signing up is for who is nowhere a member.
    expect(await arrive({ signUp: true })).toBe('Other');
    await invite(home);
    expect(await arrive()).toBe('Acme');
  });
});
