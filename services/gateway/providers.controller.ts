/** Signing in by an OpenID provider: the browser goes there, and comes back with a cookie of its own. */
import { Controller, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { BUS, type Bus } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import { begunProviderSignIn, finishedProviderSignIn } from '#contracts/member';
import type { Answer } from '#http/envelope';
import { Call, Handles, route, type RouteCall } from '#http/route';
import { SessionTokens } from '#http/session-tokens';
import type { AppError } from '#runtime/errors';
import { html } from './pages/html.js';
import { page, redirect } from './pages/layout.js';
import { errorPage } from './pages/page-route.js';
import { pathWithin } from './path-within.js';

/** Discovery and the exchange of the code take a few requests to the provider. */
const providerDeadlineMs = 40_000;
const ticketCookie = 'meerkat_oidc';
const ticketPath = '/api/oidc/';
const ticketSeconds = 600;

/** Signing in again would only repeat what went wrong, so it is said. */
function signInErrorPage(error: AppError, url: string): Answer {
  if (error.code !== 'UNAUTHORIZED') return errorPage(error, url);
  return page({
    title: 'Not signed in',
    status: 401,
    body: html`<section>
      <h1>Not signed in</h1>
      <p>${error.message}</p>
      <p><a href="/sign-in">To sign-in</a></p>
    </section>`,
  });
}

const provider = {
  id: { pattern: '^[a-z0-9]{1,50}$', of: 'sign-in provider', description: 'Of the provider.', example: 'corp' },
} as const;

/** Addresses for browsers, which come by links: what they bring beside what is known is the provider's. */
const browsed = {
  method: 'GET',
  tag: 'Pages',
  hidden: true,
  access: 'public',
  ids: provider,
  errorPage: signInErrorPage,
  errorPageForBrowsers: true,
  answers: [{ status: 303, description: 'Where to go on.', envelope: 'none', contentType: 'text/plain' }],
} as const;

const start = route({
  ...browsed,
  path: '/api/oidc/{id}/start',
  operationId: 'startProviderSignIn',
  summary: 'Begin to sign in by a provider',
});
const callback = route({
  ...browsed,
  path: '/api/oidc/{id}/callback',
  operationId: 'finishProviderSignIn',
  summary: 'Come back from a provider',
});

function ticketIn(header: string | undefined): string {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${ticketCookie}=`))?.slice(ticketCookie.length + 1) ?? '';
}

@Controller()
export class ProvidersController {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(SessionTokens) private readonly tokens: SessionTokens,
  ) {}

  @Handles(start)
  async start(@Call() { ids, context }: RouteCall<typeof start>, @Req() request: FastifyRequest): Promise<Answer> {
    const to = pathWithin(new URL(request.url, 'http://here.invalid').searchParams.get('to') ?? '');
    const begun = await this.bus.request(requests.providerBegin, { id: ids.id, to }, context, providerDeadlineMs);
    const { url, ticket } = begunProviderSignIn.parse(begun);
    return redirect(url, { 'set-cookie': this.#ticketCookieOf(ticket, ticketSeconds, request) });
  }

  @Handles(callback)
  async callback(
    @Call() { ids, context }: RouteCall<typeof callback>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    const { search: query } = new URL(request.url, 'http://here.invalid');
    const payload = { id: ids.id, query, ticket: ticketIn(request.headers.cookie) };
    const finished = await this.bus.request(requests.providerFinish, payload, context, providerDeadlineMs);
    const { to, ...opened } = finishedProviderSignIn.parse(finished);
    return redirect(pathWithin(to), { 'set-cookie': this.tokens.cookieOf(opened, request) });
  }

  /** `Lax`: the way back is a link from elsewhere. */
  #ticketCookieOf(ticket: string, maxAgeSeconds: number, request: FastifyRequest): string {
    const secure = this.tokens.isSecure(request) ? '; Secure' : '';
    return `${ticketCookie}=${ticket}; Max-Age=${maxAgeSeconds}; Path=${ticketPath}; HttpOnly; SameSite=Lax${secure}`;
  }
}
