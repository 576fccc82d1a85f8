/** A provider that lies, or that somebody else speaks for: plain HTTP on loopback, as a settings file may name it. */
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Outbound } from '#outbound/outbound';
import { createOutbound } from '#outbound/undici';
import { createProviderClient, type Claims, type ProviderClient } from './provider.js';

const redirectUri = 'https://meerkat.example.com/api/oidc/corp/callback';
const own = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const foreign = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const [iat, exp] = [Math.floor(Date.now() / 1_000), Math.floor(Date.now() / 1_000) + 300];

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

function tokenOf(claims: object, header: object, key: KeyObject | null): string {
  const text = `${encoded(header)}.${encoded(claims)}`;
  return `${text}.${key === null ? '' : sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

interface Says {
  readonly metadata?: object;
  readonly header?: object;
  readonly key?: KeyObject | null;
  readonly claims?: object;
  readonly userInfo?: object;
}

let server: Server;
let outbound: Outbound;
let client: ProviderClient;
let issuer: string;
let says: Says;
let nonce: string;

beforeEach(async () => {
  [says, nonce] = [{}, ''];
  server = createServer((request, answer) => {
    const endpoints = Object.fromEntries(
      ['authorization', 'token', 'userinfo'].map((name) => [`${name}_endpoint`, `${issuer}/${name}`]),
    );
    const claims = { iss: issuer, aud: 'meerkat', sub: 'somebody', iat, exp, nonce, ...says.claims };
    const { header = { alg: 'RS256', kid: 'own' }, key = own.privateKey } = says;
    const answers: Readonly<Record<string, object>> = {
      '/.well-known/openid-configuration': { issuer, jwks_uri: `${issuer}/keys`, ...endpoints, ...says.metadata },
      '/keys': { keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'own', alg: 'RS256', use: 'sig' }] },
      '/token': { access_token: 'a', token_type: 'Bearer', id_token: tokenOf(claims, header, key) },
      '/userinfo': { sub: 'somebody', ...says.userInfo },
    };
    answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers[request.url ?? ''] ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  outbound = createOutbound({ egressAllow: ['127.0.0.1/32'], egressProxyUrl: null, userAgent: 'spec' });
  const settings = {
    id: 'corp',
    name: 'Corp',
    clientId: 'meerkat',
    clientSecret: 's'.repeat(40),
    groups: [],
    signUp: false,
  };
  client = createProviderClient({ ...settings, issuer }, outbound, Date.now);
});
afterEach(async () => {
  await outbound.close();
  await new Promise((resolve) => server.close(resolve));
});

async function signIn(said: Says): Promise<Claims> {
  says = said;
  const { url, secrets } = await client.begin(redirectUri);
  nonce = new URL(url).searchParams.get('nonce') ?? '';
  return client.finish(new URL(`${redirectUri}?code=c&state=${secrets.state}`), secrets);
}

const vouched = { email: 'owner@example.com', email_verified: true };

describe('a provider', () => {
  it('is believed where it signed the token itself', async () => {
    expect(await signIn({ claims: vouched })).toMatchObject({ sub: 'somebody', ...vouched });
  });

  it.each<readonly [string, Says]>([
    ['by another key', { key: foreign.privateKey }],
    ['by nobody', { key: null }],
    ['by nobody, and says so', { key: null, header: { alg: 'none' } }],
    ['by a key that it does not have', { header: { alg: 'RS256', kid: 'other' }, key: foreign.privateKey }],
  ])('is not believed where the token was signed %s', async (_, said) => {
    await expect(signIn({ ...said, claims: vouched })).rejects.toMatchObject({ reason: 'provider_refused' });
  });

  it('vouches for no address by what it says of another', async () => {
    const { email } = vouched;
    const userInfo = { email: 'attacker@example.com', email_verified: true };
    expect(await signIn({ claims: { email }, userInfo })).toMatchObject(userInfo);
  });

  it.each<readonly [string, object]>([
    ['where to go', { authorization_endpoint: undefined }],
    ['an address to go to', { authorization_endpoint: 'javascript:alert(1)' }],
    ['where its keys are', { jwks_uri: undefined }],
    ['where tokens are', { token_endpoint: 'nowhere' }],
  ])('that does not say %s is none', async (_, metadata) => {
    await expect(signIn({ metadata })).rejects.toMatchObject({ reason: 'provider_unavailable' });
  });
});
