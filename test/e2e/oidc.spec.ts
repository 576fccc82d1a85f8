/** Signing in by an OpenID provider: a real one, through its own forms. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createInstallation } from './kit/create-installation.js';
import { ownerEmail, type Installation } from './kit/installation.js';
import { createBrowser, startOpenIdProvider, type OpenIdProvider } from './kit/openid-provider.js';
import { addOrganization, addPerson, invite, join, signIn } from './kit/people.js';

const session = z.object({
  data: z.object({ account: z.object({ id: z.string(), email: z.string(), role: z.string() }) }),
});

let installation: Installation;
let provider: OpenIdProvider;

beforeAll(async () => {
  provider = await startOpenIdProvider();
  installation = await createInstallation({
    settings: {
      OIDC_CORP_ISSUER: provider.issuer,
      OIDC_CORP_CLIENT_ID: provider.clientId,
      OIDC_CORP_CLIENT_SECRET: provider.clientSecret,
      OIDC_CORP_NAME: 'Corp',
      OIDC_CORP_GROUPS: 'groups:watchers=editor,groups:chiefs=admin,groups:owners=owner',
    },
  });
  await installation.start();
  provider.serve(installation.url);
});

afterAll(async () => {
  await installation.remove();
  await provider.close();
});

const start = (to = ''): string => `${installation.url}/api/oidc/corp/start?to=${encodeURIComponent(to)}`;

async function accountOf(cookie: string): Promise<z.infer<typeof session>['data']['account']> {
  const reply = await installation.api.send('/api/sessions/current', { key: null, headers: { cookie } });
  return session.parse(reply.body).data.account;
}

describe('a sign-in provider', () => {
  it('is offered to who is not signed in', async () => {
    const { body } = await installation.api.send('/api/sign-in', { key: null });
    expect(body).toEqual({
      success: true,
      data: {
        methods: [{ type: 'password' }, { type: 'oidc', id: 'corp', name: 'Corp', startUrl: '/api/oidc/corp/start' }],
        isSetUp: true,
      },
    });
  });

  it('signs a member in by a verified address, and leads to the page that was asked for', async () => {
    provider.people.set('owner', { email: ownerEmail.toUpperCase() });
    const browser = createBrowser();
    const page = await browser.signInAs(start('/settings?x=1'), 'owner');
    expect(page.url).toBe(`${installation.url}/settings?x=1`);
    expect(await accountOf(browser.cookieOf(installation.url))).toMatchObject({ email: ownerEmail, role: 'owner' });
  });

  it('signs in who was invited, without a password, and gives the role of the groups', async () => {
    const { email } = await invite(installation, 'viewer');
    provider.people.set('invited', { email, groups: ['others', 'watchers', 'chiefs'] });
    const browser = createBrowser();
    await browser.signInAs(start(), 'invited');
    expect(await accountOf(browser.cookieOf(installation.url))).toMatchObject({ email, role: 'admin' });
    // Found by who they are there, whatever their address has become.
    provider.people.set('invited', { email: 'elsewhere@example.com', groups: ['watchers'] });
    const again = createBrowser();
    await again.signInAs(start(), 'invited');
    expect(await accountOf(again.cookieOf(installation.url))).toMatchObject({ email, role: 'editor' });
  });

  it('leaves the last owner an owner, whatever its groups say', async () => {
    provider.people.set('owner', { email: ownerEmail, groups: ['watchers'] });
    const browser = createBrowser();
    await browser.signInAs(start(), 'owner');
    expect(await accountOf(browser.cookieOf(installation.url))).toMatchObject({ role: 'owner' });
  });

  it('lets nobody in who is not a member, or whose address it did not verify', async () => {
    const { email } = await addPerson(installation, 'viewer');
    provider.people.set('stranger', { email: 'stranger@example.com', groups: ['owners'] });
    provider.people.set('claims', { email, isVerified: false });
    provider.people.set('look-alike', { email: ownerEmail.replace('o', 'ｏ') });
    for (const name of ['stranger', 'claims', 'look-alike']) {
      const browser = createBrowser();
      const page = await browser.signInAs(start(), name);
      expect([page.status, page.text.includes('You are not a member here')]).toEqual([403, true]);
      expect(browser.cookieOf(installation.url)).not.toContain('meerkat_session');
    }
  });

  it('leads to the first organisation, also where another one has invited the address or has an account of it', async () => {
    const second = await addOrganization(installation, 'Catcher');
    const { email, token } = await invite(installation, 'viewer', second.owner);
    provider.people.set('caught', { email });
    const refused = await createBrowser().signInAs(start(), 'caught');
    expect([refused.status, refused.text.includes('open its link')]).toEqual([403, true]);
    await join(installation, token);
    const { id } = await invite(installation, 'editor', undefined, email);
    const browser = createBrowser();
    await browser.signInAs(start(), 'caught');
    expect(await accountOf(browser.cookieOf(installation.url))).toMatchObject({ id, role: 'editor' });
  });

  it('counts only in the browser that began, and once', async () => {
    provider.people.set('owner', { email: ownerEmail });
    const victim = createBrowser();
    await victim.visit(start());
    // Somebody else's way back, opened here.
    const attacker = createBrowser();
    await attacker.signInAs(start(), 'owner');
    const begun = createBrowser();
    const there = await begun.visit(start(), undefined, false);
    const state = new URL(there.headers.get('location') ?? '').searchParams.get('state') ?? '';
    for (const query of [
      `?code=x&state=${state}`,
      '',
      '?error=access_denied&state=x',
      `?state=${state}&error=access_denied`,
    ]) {
      const page = await victim.visit(`${installation.url}/api/oidc/corp/callback${query}`);
      expect(page.status).toBe(401);
      expect(victim.cookieOf(installation.url)).not.toContain('meerkat_session');
    }
    const long = await victim.visit(
      `${installation.url}/api/oidc/corp/callback?code=${'x'.repeat(9_000)}&state=${state}`,
    );
    expect(long.status).toBe(401);
    const far = await installation.api.send(`/api/oidc/corp/start?to=/${'x'.repeat(3_000)}`, { key: null });
    expect(far.headers.get('location')).toContain(provider.issuer);
    const bare = await installation.api.send('/api/oidc/corp/callback?code=x&state=y', { key: null });
    expect([bare.status, bare.body]).toMatchObject([401, { error: { reason: 'sign_in_expired' } }]);
    expect((await installation.api.send('/api/oidc/other/start', { key: null })).status).toBe(404);
  });

  it('ends with its member: who is removed is signed out', async () => {
    const { email } = await invite(installation, 'viewer');
    provider.people.set('leaver', { email });
    const browser = createBrowser();
    await browser.signInAs(start(), 'leaver');
    const cookie = browser.cookieOf(installation.url);
    const { id } = await accountOf(cookie);
    await (await signIn(installation)).send(`/api/members/${id}`, { method: 'DELETE' });
    const reply = await installation.api.send('/api/notifications', { key: null, headers: { cookie } });
    expect(reply.status).toBe(401);
  });

  it('that is away is said to be, while passwords go on', async () => {
    provider.goAway();
    await installation.kill('SIGTERM');
    await installation.start();
    const reply = await installation.api.send('/api/oidc/corp/start', { key: null });
    expect([reply.status, reply.body]).toMatchObject([503, { error: { reason: 'provider_unavailable' } }]);
    expect(reply.headers.get('retry-after')).not.toBeNull();
    await signIn(installation);
  });
});
