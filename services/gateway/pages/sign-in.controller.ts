/** Signing in and out by plain forms, and back to the page that was asked for. */
import { Controller, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { BUS, type Bus } from '#bus/bus';
import { openedSession, sessionInput } from '#contracts/account';
import { requests } from '#contracts/catalogue';
import { addressGroup } from '#http/client-address';
import type { Answer } from '#http/envelope';
import { FrontDoor } from '#http/front-door';
import { Call, Handles, route, type RouteCall } from '#http/route';
import { foreignOrigin } from '#http/session';
import { clearedCookie, isOwnOrigin, isSecureRequest, sessionCookie, tokenOfCookie } from '#http/session-cookie';
import { statusOf } from '#http/status';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { AppError } from '#runtime/errors';
import { html } from './html.js';
import { page, redirect } from './layout.js';
import { errorPage, publicPage } from './page-route.js';

/** A password is hashed on purpose slowly, and a queue of them may be ahead. */
const signInDeadlineMs = 30_000;

const longestPath = 2_000;
const home = '/tasks';

const showForm = publicPage('/sign-in');
const signIn = route({
  ...publicPage('/sign-in'),
  method: 'POST',
  operationId: 'signIn',
  form: true,
  body: z.strictObject({ ...sessionInput.shape, to: z.string().max(longestPath).default('') }),
  errorPage,
});
const signOut = route({ ...publicPage('/sign-out'), method: 'POST', operationId: 'signOut', form: true, errorPage });

/** A path of this instance; anything else, as an address elsewhere in a link that somebody sent, leads home. */
export function pathWithin(to: string): string {
  const base = 'http://here.invalid';
  // Browsers take a backslash for a slash, and pass over control characters.
  if (!to.startsWith('/') || /[\\\p{Cc}]/u.test(to) || !URL.canParse(to, base)) return home;
  const { origin, pathname, search } = new URL(to, base);
  return origin === base && !pathname.startsWith('//') ? `${pathname}${search}` : home;
}

interface Form {
  readonly to: string;
  readonly email?: string;
  readonly problem?: string;
  readonly status?: number;
}

function formPage({ to, email = '', problem, status = 200 }: Form): Answer {
  return page({
    title: 'Sign in',
    status,
    body: html`<section>
      <h1>Sign in</h1>
      ${problem === undefined ? null : html`<p class="problem" role="alert">${problem}</p>`}
      <form method="post" action="/sign-in">
        <input type="hidden" name="to" value="${to}" />
        <div class="field">
          <label for="email">Your e-mail address</label>
          <input
            id="email"
            name="email"
            type="email"
            autocomplete="username"
            required
            maxlength="254"
            value="${email}"
          />
        </div>
        <div class="field">
          <label for="password">Password</label>
          <input
            id="password"
            name="password"
            type="password"
            autocomplete="current-password"
            required
            maxlength="1000"
          />
        </div>
        <button type="submit">Sign in</button>
      </form>
    </section>`,
  });
}

@Controller()
export class SignInController {
  readonly #bus: Bus;
  readonly #frontDoor: FrontDoor;
  readonly #config: Config;
  readonly #clock: Clock;

  constructor(
    @Inject(BUS) bus: Bus,
    @Inject(FrontDoor) frontDoor: FrontDoor,
    @Inject(CONFIG) config: Config,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#bus = bus;
    this.#frontDoor = frontDoor;
    this.#config = config;
    this.#clock = clock;
  }

  @Handles(showForm)
  async showForm(@Req() request: FastifyRequest): Promise<Answer> {
    const to = pathWithin(new URL(request.url, 'http://here.invalid').searchParams.get('to') ?? '');
    return (await this.#frontDoor.signedIn(request)) === null ? formPage({ to }) : redirect(to);
  }

  @Handles(signIn)
  async signIn(@Call() { body, context }: RouteCall<typeof signIn>, @Req() request: FastifyRequest): Promise<Answer> {
    this.#checkOrigin(request);
    const { email, password } = body;
    const to = pathWithin(body.to);
    const payload = { email, password, address: addressGroup(this.#frontDoor.addressOf(request)) };
    try {
      const opened = await this.#bus.request(requests.sessionOpen, payload, context, signInDeadlineMs);
      const { token, expiresAt } = openedSession.parse(opened);
      const maxAgeSeconds = Math.floor((Date.parse(expiresAt) - this.#clock.now()) / 1_000);
      const cookie = sessionCookie(token, maxAgeSeconds, isSecureRequest(request.headers, this.#config.publicUrl));
      return redirect(to, { 'set-cookie': cookie });
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'SERVER_ERROR') throw error;
      return formPage({ to, email, problem: error.message, status: statusOf(error) });
    }
  }

  @Handles(signOut)
  async signOut(@Call() { context }: RouteCall<typeof signOut>, @Req() request: FastifyRequest): Promise<Answer> {
    this.#checkOrigin(request);
    const token = tokenOfCookie(request.headers.cookie);
    if (token !== null) await this.#bus.request(requests.sessionClose, { token }, context);
    const cookie = clearedCookie(isSecureRequest(request.headers, this.#config.publicUrl));
    return redirect('/sign-in', { 'set-cookie': cookie });
  }

  #checkOrigin({ headers }: FastifyRequest): void {
    if (!isOwnOrigin(headers.origin, headers.host, this.#config.publicUrl)) throw foreignOrigin;
  }
}
