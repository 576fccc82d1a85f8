/** A real OpenID provider on loopback (oidc-provider), and a browser that signs in there as somebody. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';

export interface ProviderPerson {
  readonly email: string;
  readonly isVerified?: boolean;
  readonly groups?: readonly string[];
}

export interface OpenIdProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Who signs in there under which name. */
  readonly people: Map<string, ProviderPerson>;
  /** From now on it knows the installation that listens there. */
  serve(installationUrl: string): void;
  /** From now on it answers 503. */
  goAway(): void;
  close(): Promise<void>;
}

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  const away: RequestListener = (_, answer) => void answer.writeHead(503).end();
  let handle = away;
  const server = createServer((request, answer) => {
    handle(request, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [clientId, clientSecret] = ['meerkat', 'a secret of the client, for this spec alone'];
  const people = new Map<string, ProviderPerson>();
  return {
    issuer,
    clientId,
    clientSecret,
    people,
    serve(installationUrl) {
      const configuration: Configuration = {
        clients: [
          {
            client_id: clientId,
            client_secret: clientSecret,
            redirect_uris: [`${installationUrl}/api/oidc/corp/callback`],
            token_endpoint_auth_method: 'client_secret_post',
          },
        ],
        claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups'] },
        pkce: { required: () => true },
        findAccount: (_, accountId) => ({
          accountId,
          claims: () => {
            const { email = '', isVerified = true, groups = [] } = people.get(accountId) ?? {};
            return { sub: accountId, email, email_verified: isVerified, groups: [...groups] };
          },
        }),
      };
      const provider = new Provider(issuer, configuration);
      const callback = provider.callback();
      handle = (request, answer) => void callback(request, answer);
    },
    goAway() {
      handle = away;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface Visit {
  readonly status: number;
  readonly url: string;
  readonly headers: Headers;
  readonly text: string;
}

/** Follows redirects and keeps cookies by their origin and path, as a browser does. */
export function createBrowser() {
  const cookies: { readonly origin: string; readonly path: string; readonly name: string; readonly value: string }[] =
    [];

  const keep = (url: URL, headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const name = pair.slice(0, pair.indexOf('='));
      const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? '/';
      const known = cookies.findIndex((one) => one.origin === url.origin && one.name === name && one.path === path);
      if (known >= 0) cookies.splice(known, 1);
      const isGone = attributes.some((one) => /^max-age=0$/i.test(one) || /^expires=Thu, 01 Jan 1970/i.test(one));
      if (!isGone) cookies.push({ origin: url.origin, path, name, value: pair.slice(name.length + 1) });
    }
  };

  const cookieFor = (url: URL): string =>
    cookies
      .filter(({ origin, path }) => origin === url.origin && url.pathname.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');

  const visit = async (address: string, form?: Readonly<Record<string, string>>, follows = true): Promise<Visit> => {
    let url = new URL(address);
    let body = form === undefined ? undefined : new URLSearchParams(form);
    for (let step = 0; step < 20; step += 1) {
      const answer = await fetch(url, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { accept: 'text/html', cookie: cookieFor(url) },
        ...(body === undefined ? {} : { body }),
        redirect: 'manual',
      });
      keep(url, answer.headers);
      const location = answer.headers.get('location');
      if (!follows || location === null) {
        return { status: answer.status, url: url.href, headers: answer.headers, text: await answer.text() };
      }
      await answer.arrayBuffer();
      url = new URL(location, url);
      body = undefined;
    }
    throw new Error(`too many redirects, the last to ${url.href}`);
  };

  return {
    visit,
    /** Through the provider's own forms, back to the installation. `name`: who signs in there. */
    async signInAs(startUrl: string, name: string): Promise<Visit> {
      let page = await visit(startUrl);
      for (let form = 0; form < 3; form += 1) {
        const action = /<form[^>]*action="([^"]+)"/.exec(page.text)?.[1];
        const prompt = /name="prompt" value="(login|consent)"/.exec(page.text)?.[1];
        if (action === undefined || prompt === undefined) return page;
        page = await visit(new URL(action, page.url).href, { prompt, login: name, password: 'any' });
      }
      return page;
    },
    cookieOf: (origin: string): string => cookieFor(new URL(origin)),
  };
}
