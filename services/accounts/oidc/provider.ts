/** One OpenID provider: where to send a browser, and what it says of who comes back. openid-client does the protocol. */
import type { Configuration, IDToken } from 'openid-client';
import type { OidcProvider } from '#runtime/oidc-settings';
import { AppError, unavailable } from '#runtime/errors';
import type { Outbound } from '#outbound/outbound';
import { joinedClaims } from './claims.js';
import { outboundFetch } from './outbound-fetch.js';

const scope = 'openid email profile';
/** What a provider says of itself is asked for again after this time. */
const knownMs = 3_600_000;
const timeoutSeconds = 15;

/** What the browser keeps between the way there and the way back: nobody else's way back fits it. */
export interface Secrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

export interface ProviderClient {
  /** Rejects with `provider_unavailable`. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly secrets: Secrets }>;
  /** Rejects with `provider_unavailable`, or `provider_refused` where it does not vouch for anybody. */
  finish(callback: URL, secrets: Secrets): Promise<Claims>;
}

export interface SignInProvider {
  readonly settings: OidcProvider;
  readonly client: ProviderClient;
}

export type SignInProviders = ReadonlyMap<string, SignInProvider>;

/** It does not know that anybody vouched for them: what the provider said is for the log of the operator. */
const refused = (cause: unknown): AppError =>
  new AppError('UNAUTHORIZED', 'provider_refused', 'The sign-in provider did not sign you in; begin again.', { cause });

/** What a sign-in cannot do without, each at an address of the web. */
function checkEndpoints(configuration: Configuration): void {
  const { authorization_endpoint, token_endpoint, jwks_uri } = configuration.serverMetadata();
  for (const [name, address] of Object.entries({ authorization_endpoint, token_endpoint, jwks_uri })) {
    const isOfWeb = address !== undefined && URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
    if (!isOfWeb) throw new Error(`the provider names no ${name}`);
  }
}

function translated(error: unknown): AppError {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AppError) return cause;
  }
  return refused(error);
}

export function createProviderClient(
  { issuer, clientId, clientSecret }: OidcProvider,
  outbound: Outbound,
  now: () => number,
): ProviderClient {
  let known: { readonly configuration: Promise<Configuration>; readonly untilMs: number } | null = null;

  const discover = async (): Promise<Configuration> => {
    const client = await import('openid-client');
    try {
      const configuration = await client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
        [client.customFetch]: outboundFetch(outbound),
        timeout: timeoutSeconds,
        // The settings say where it may be: http for a provider beside this process, or where the operator insists.
        // Who signed a token counts, not by which way it came: a proxy may stand in it.
        execute: [
          client.enableNonRepudiationChecks,
          ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
        ],
      });
      checkEndpoints(configuration);
      return configuration;
    } catch (error) {
      const cause = translated(error);
      if (cause.reason === 'provider_unavailable') throw cause;
      const message = `The sign-in provider at ${new URL(issuer).host} does not answer as an OpenID provider; its operator, or OIDC_…_ISSUER, has to be looked at.`;
      throw unavailable('provider_unavailable', message, 30, error);
    }
  };

  const configured = (): Promise<Configuration> => {
    if (known !== null && known.untilMs > now()) return known.configuration;
    const configuration = discover();
    const asked = { configuration, untilMs: now() + knownMs };
    known = asked;
    configuration.catch(() => {
      if (known === asked) known = null;
    });
    return configuration;
  };

  /** Some providers give address and groups only when asked. */
  const withUserInfo = async (configuration: Configuration, accessToken: string, claims: IDToken): Promise<Claims> => {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    const client = await import('openid-client');
    return joinedClaims(claims, await client.fetchUserInfo(configuration, accessToken, claims.sub));
  };

  return {
    async begin(redirectUri) {
      const [client, configuration] = await Promise.all([import('openid-client'), configured()]);
      const [state, nonce] = [client.randomState(), client.randomNonce()];
      const verifier = client.randomPKCECodeVerifier();
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, secrets: { state, nonce, verifier } };
    },

    async finish(callback, { state, nonce, verifier }) {
      const [client, configuration] = await Promise.all([import('openid-client'), configured()]);
      try {
        const tokens = await client.authorizationCodeGrant(configuration, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined) throw refused(null);
        return await withUserInfo(configuration, tokens.access_token, claims);
      } catch (error) {
        throw translated(error);
      }
    },
  };
}
