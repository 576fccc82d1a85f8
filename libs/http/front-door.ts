/**
 * What happens to every request before a handler sees it, as Fastify hooks: request id, standing headers, who asks, whose
 * budget pays. Fastify has matched the route before these hooks run, so there is no second matching that could differ.
 */
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scope } from '#contracts/account';
import { KEY_PEPPER } from '#contracts/api-key';
import { BUILT_VIEWS, type BuiltViews } from '#read-store/built-views';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { unavailable } from '#runtime/errors';
import { countRequest } from '#runtime/metrics';
import { allows, createKeyVerifier, type KeyVerifier, type Principal } from './api-key.js';
import { Budgets } from './budgets.js';
import { createClientAddress } from './client-address.js';
import { LAST_USES, type LastUses } from './last-use.js';
import { declarationOf } from './route.js';
import { createSessionVerifier, type SessionVerifier, type VerifiedSession } from './session.js';
import { SessionTokens } from './session-tokens.js';

export const apiVersion = '2026-11-01';

/** On every response, whatever it is. */
export const standingHeaders: Readonly<Record<string, string>> = {
  'x-api-version': apiVersion,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
};

/** The request id a client sends is taken where it is short and plain. */
export function acceptedRequestId(header: string | readonly string[] | undefined): string | null {
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(header) ? header : null;
}

@Injectable()
export class FrontDoor {
  readonly #keys: KeyVerifier;
  readonly #sessions: SessionVerifier;
  readonly #clientAddress: (peer: string | undefined, forwardedFor: string | readonly string[] | undefined) => string;
  readonly #stopping = new AbortController();

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(KEY_PEPPER) pepper: Buffer,
    @Inject(CONFIG) config: Config,
    @Inject(CLOCK) clock: Clock,
    @Inject(BUILT_VIEWS) private readonly views: BuiltViews,
    @Inject(LAST_USES) private readonly lastUses: LastUses,
    @Inject(Budgets) private readonly budgets: Budgets,
    @Inject(SessionTokens) private readonly tokens: SessionTokens,
  ) {
    this.#keys = createKeyVerifier(readStore, pepper, clock);
    this.#sessions = createSessionVerifier(readStore, pepper, clock, config.publicUrl);
    this.#clientAddress = createClientAddress(config.trustedProxies);
  }

  /** From the first shutdown hook on: nothing new is taken in, and waits end early. */
  onModuleDestroy(): void {
    this.#stopping.abort();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.budgets.close(), this.lastUses.close()]);
  }

  /** Aborted when the process begins to stop. */
  get stopSignal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Identifies the caller, takes from a budget, or throws what is to be answered. */
  async enter(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const declaration = declarationOf(request);
    const access = declaration?.access;
    if (access === 'probe') return;
    if (this.#stopping.signal.aborted) {
      reply.header('connection', 'close');
      throw unavailable('shutting_down', 'This process is stopping; try again.');
    }
    await this.#checkBuilt(request);
    if (access === 'public') return this.budgets.takeAnonymous(this.addressOf(request));
    const { verdict, agedToken } = await this.#verify(request);
    if (!verdict.ok) {
      await this.budgets.takeAnonymous(this.addressOf(request));
      // An unknown path is 404 for everybody: it is no secret which paths exist.
      if (request.is404) return;
      throw verdict.error;
    }
    const { principal } = verdict;
    request.principal = principal;
    const isLetIn = declaration?.raisesBudget === true && principal.scopes.includes('operator');
    await this.budgets.take(principal, reply, isLetIn);
    if (principal.actor.startsWith('key:')) this.lastUses.used(principal.actor.slice('key:'.length));
    if (agedToken !== null) await this.tokens.rotate(agedToken, principal, request, reply);
  }

  /** A key counts before a session: who sends one means it. */
  async #verify(request: FastifyRequest): Promise<VerifiedSession> {
    const { authorization } = request.headers;
    const bySession = authorization === undefined ? await this.#sessions.verify(request) : null;
    if (bySession !== null) return bySession;
    return { verdict: await this.#keys.verify(authorization, this.addressOf(request)), agedToken: null };
  }

  /** Who is signed in, where a public page asks; takes from no budget. */
  async signedIn(request: FastifyRequest): Promise<Principal | null> {
    const verified = await this.#sessions.verify(request);
    return verified?.verdict.ok === true ? verified.verdict.principal : null;
  }

  /** Whether the caller would be let in once more, by the same key or session; takes from no budget. */
  async stillAllows(request: FastifyRequest): Promise<boolean> {
    const needed = declarationOf(request)?.access;
    if (needed === undefined || needed === 'public' || needed === 'probe') return false;
    const isEnough = (scopes: readonly Scope[]): boolean => needed === 'session' || allows(scopes, needed);
    const sessionId = request.principal?.sessionId;
    if (sessionId !== undefined) return this.#sessions.goesOn(sessionId, isEnough);
    const { verdict } = await this.#verify(request);
    return verdict.ok && isEnough(verdict.principal.scopes);
  }

  /** Counts the answer in the metrics. */
  leave(request: FastifyRequest, reply: FastifyReply): void {
    const template = request.routeOptions.url ?? 'unknown';
    countRequest(request.method, request.is404 ? 'unknown' : template, reply.statusCode, reply.elapsedTime / 1_000);
  }

  /** Where the request comes from, past the proxies that are trusted. */
  addressOf(request: FastifyRequest): string {
    return this.#clientAddress(request.raw.socket.remoteAddress, request.headers['x-forwarded-for']);
  }

  /** An empty list, or a 404, would be a wrong answer while a view is built from a history, as after an upgrade. */
  async #checkBuilt(request: FastifyRequest): Promise<void> {
    const reads = declarationOf(request)?.reads?.(request.query as Readonly<Record<string, unknown>>) ?? [];
    const unbuilt = await this.views.unbuilt(reads);
    if (unbuilt.length === 0) return;
    const message = `Built from the recorded events, as once after an upgrade: ${unbuilt.join(', ')}. Try again soon.`;
    throw unavailable('views_being_built', message, 1);
  }
}
