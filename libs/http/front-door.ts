/**
 * What happens to every request before a handler sees it, as Fastify hooks: request id, standing headers, who asks, whose
 * budget pays. Fastify has matched the route before these hooks run, so there is no second matching that could differ.
 */
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createLru } from '#concurrency/lru';
import { organizationsView, type Plan } from '#contracts/account';
import { BUILT_VIEWS, type BuiltViews } from '#read-store/built-views';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { AppError, unavailable } from '#runtime/errors';
import { countRequest } from '#runtime/metrics';
import { allows, createKeyVerifier, type KeyVerifier, type Principal, type Verdict } from './api-key.js';
import { KEY_PEPPER } from '#contracts/api-key';
import { addressGroup, createClientAddress } from './client-address.js';
import { QUOTA, quotaHeaders, type Budget, type Quota } from './quota.js';
import { declarationOf } from './route.js';
import { createSessionVerifier, type SessionVerifier } from './session.js';

export const apiVersion = '2026-11-01';

/** On every response, whatever it is. */
export const standingHeaders: Readonly<Record<string, string>> = {
  'x-api-version': apiVersion,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
};

const hourMs = 3_600_000;
const minuteMs = 60_000;
/** People at a screen ask for many small things; they do not pay from the budget of programs. */
const sessionsFactor = 10;
const budgetOfPlan: Readonly<Record<Plan, number>> = { free: 100, pro: 1_000, enterprise: 100_000 };

/** A change of plan is felt after this long at most. */
const planCachedMs = 3_000;
const cachedPlans = 10_000;

/** Whose budget pays: the organisation's for its keys, another one for its members at their screens. */
type Payer = Pick<Principal, 'organizationId' | 'actor'>;

const isPerson = ({ actor }: Payer): boolean => actor.startsWith('user:');
const subjectOf = (payer: Payer): string => `${isPerson(payer) ? 'sessions' : 'organization'}:${payer.organizationId}`;

/** The request id a client sends is taken where it is short and plain. */
export function acceptedRequestId(header: string | readonly string[] | undefined): string | null {
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(header) ? header : null;
}

@Injectable()
export class FrontDoor {
  private readonly keys: KeyVerifier;
  private readonly sessions: SessionVerifier;
  private readonly clientAddress: (
    peer: string | undefined,
    forwardedFor: string | readonly string[] | undefined,
  ) => string;
  private readonly plans = createLru<string, { readonly plan: Plan; readonly untilMs: number }>(cachedPlans);
  private readonly stopping = new AbortController();

  constructor(
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(KEY_PEPPER) pepper: Buffer,
    @Inject(QUOTA) private readonly quota: Quota,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(BUILT_VIEWS) private readonly views: BuiltViews,
  ) {
    this.keys = createKeyVerifier(readStore, pepper, clock);
    this.sessions = createSessionVerifier(readStore, pepper, clock, config.publicUrl);
    this.clientAddress = createClientAddress(config.trustedProxies);
  }

  /** From the first shutdown hook on: nothing new is taken in, and waits end early. */
  onModuleDestroy(): void {
    this.stopping.abort();
  }

  /** Aborted when the process begins to stop. */
  get stopSignal(): AbortSignal {
    return this.stopping.signal;
  }

  /** Identifies the caller, takes from a budget, or throws what is to be answered. */
  async enter(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const access = declarationOf(request)?.access;
    if (access === 'probe') return;
    if (this.stopping.signal.aborted) {
      reply.header('connection', 'close');
      throw unavailable('shutting_down', 'This process is stopping; try again.');
    }
    await this.checkBuilt(request);
    if (access === 'public') return this.takeAnonymous(request);
    const verdict = await this.verify(request);
    if (!verdict.ok) {
      await this.takeAnonymous(request);
      // An unknown path is 404 for everybody: it is no secret which paths exist.
      if (request.is404) return;
      throw verdict.error;
    }
    request.principal = verdict.principal;
    await this.takeOfOrganization(verdict.principal, reply);
  }

  /** A key counts before a session: who sends one means it. */
  private async verify(request: FastifyRequest): Promise<Verdict> {
    const { authorization } = request.headers;
    const bySession = authorization === undefined ? await this.sessions.verify(request) : null;
    return bySession ?? this.keys.verify(authorization, this.addressOf(request));
  }

  /** Who is signed in, where a public page asks; takes from no budget. */
  async signedIn(request: FastifyRequest): Promise<Principal | null> {
    const verdict = await this.sessions.verify(request);
    return verdict?.ok === true ? verdict.principal : null;
  }

  /** Whether the caller would be let in once more, by the same key or session; takes from no budget. */
  async stillAllows(request: FastifyRequest): Promise<boolean> {
    const verdict = await this.verify(request);
    const needed = declarationOf(request)?.access;
    if (!verdict.ok || needed === undefined || needed === 'public' || needed === 'probe') return false;
    return allows(verdict.principal.scopes, needed);
  }

  /** Counts the answer in the metrics. */
  leave(request: FastifyRequest, reply: FastifyReply): void {
    const template = request.routeOptions.url ?? 'unknown';
    countRequest(request.method, request.is404 ? 'unknown' : template, reply.statusCode, reply.elapsedTime / 1_000);
  }

  /** Where the request comes from, past the proxies that are trusted. */
  addressOf(request: FastifyRequest): string {
    return this.clientAddress(request.raw.socket.remoteAddress, request.headers['x-forwarded-for']);
  }

  /** An empty list, or a 404, would be a wrong answer while a view is built from a history, as after an upgrade. */
  private async checkBuilt(request: FastifyRequest): Promise<void> {
    const reads = declarationOf(request)?.reads?.(request.query as Readonly<Record<string, unknown>>) ?? [];
    const unbuilt = await this.views.unbuilt(reads);
    if (unbuilt.length === 0) return;
    const message = `Built from the recorded events, as once after an upgrade: ${unbuilt.join(', ')}. Try again soon.`;
    throw unavailable('views_being_built', message, 1);
  }

  private async takeAnonymous(request: FastifyRequest): Promise<void> {
    const subject = `address:${addressGroup(this.addressOf(request))}`;
    const state = await this.quota.take(subject, { limit: this.config.anonymousPerMinute, windowMs: minuteMs });
    if (!state.allowed)
      throw this.refused('Too many requests without a valid API key from this address.', state.resetAtMs);
  }

  private async takeOfOrganization(principal: Payer, reply: FastifyReply): Promise<void> {
    const budget = await this.budgetOf(principal);
    const state = await this.quota.take(subjectOf(principal), budget);
    reply.headers(quotaHeaders(state, budget.windowMs, this.clock.now()));
    if (!state.allowed) {
      throw this.refused(`The budget of ${budget.limit} requests per hour is used up.`, state.resetAtMs);
    }
  }

  /** For a request that counts as several: takes those beyond itself, or throws what is to be answered. What is left, as headers. */
  async takeMore(payer: Payer, requests: number): Promise<Readonly<Record<string, string>>> {
    const budget = await this.budgetOf(payer);
    let headers: Readonly<Record<string, string>> = {};
    for (let left = requests; left > 0; left -= 1) {
      const state = await this.quota.take(subjectOf(payer), budget);
      headers = quotaHeaders(state, budget.windowMs, this.clock.now());
      // Where it will not be enough, the rest is left to others.
      if (state.allowed && state.remaining >= left - 1) continue;
      throw this.refused(`The budget of ${budget.limit} requests per hour does not reach so far.`, state.resetAtMs);
    }
    return headers;
  }

  private async budgetOf(payer: Payer): Promise<Budget> {
    const limit = budgetOfPlan[await this.planOf(payer.organizationId)];
    return { limit: isPerson(payer) ? limit * sessionsFactor : limit, windowMs: hourMs };
  }

  private async planOf(organizationId: string): Promise<Plan> {
    const nowMs = this.clock.now();
    const known = this.plans.get(organizationId);
    if (known !== undefined && known.untilMs > nowMs) return known.plan;
    const found = await this.readStore.get(organizationsView, organizationId);
    const plan = found?.plan ?? this.config.defaultPlan;
    this.plans.set(organizationId, { plan, untilMs: nowMs + planCachedMs });
    return plan;
  }

  private refused(message: string, resetAtMs: number): AppError {
    const retryAfterSeconds = Math.max(1, Math.ceil((resetAtMs - this.clock.now()) / 1_000));
    return new AppError('RATE_LIMITED', 'rate_limited', message, { retryAfterSeconds });
  }
}
