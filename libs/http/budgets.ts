/** Whose budget pays for a request, and what the answer tells of it. */
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { organizationsView, type Plan } from '#contracts/account';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { AppError } from '#runtime/errors';
import type { Principal } from './api-key.js';
import { addressGroup } from './client-address.js';
import { QUOTA, quotaHeaders, type Budget, type Quota, type QuotaState } from './quota.js';

const hourMs = 3_600_000;
const minuteMs = 60_000;
/** People at a screen ask for many small things; they do not pay from the budget of programs. */
const sessionsFactor = 10;
export const budgetOfPlan: Readonly<Record<Plan, number>> = { free: 100, pro: 1_000, enterprise: 100_000 };

/** Whose budget pays: the organisation's for its keys, another one for its members at their screens. */
type Payer = Pick<Principal, 'organizationId' | 'actor'>;

const isPerson = ({ actor }: Payer): boolean => actor.startsWith('user:');
const subjectOf = (payer: Payer): string => `${isPerson(payer) ? 'sessions' : 'organization'}:${payer.organizationId}`;

@Injectable()
export class Budgets {
  constructor(
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(QUOTA) private readonly quota: Quota,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async takeAnonymous(clientAddress: string): Promise<void> {
    const subject = `address:${addressGroup(clientAddress)}`;
    const state = await this.quota.take(subject, { limit: this.config.anonymousPerMinute, windowMs: minuteMs });
    if (!state.allowed)
      throw this.#refused('Too many requests without a valid API key from this address.', state.resetAtMs);
  }

  /** Takes one and tells how the budget stands. `isLetIn`: also where nothing is left of it. */
  async take(principal: Payer, reply: FastifyReply, isLetIn = false): Promise<void> {
    const budget = await this.#budgetOf(principal);
    const state = await this.quota.take(subjectOf(principal), budget);
    reply.headers(quotaHeaders(state, budget.windowMs, this.clock.now()));
    if (!state.allowed && !isLetIn) {
      throw this.#refused(`The budget of ${budget.limit} requests per hour is used up.`, state.resetAtMs);
    }
  }

  /** For a request that counts as several: takes those beyond itself, all or none; or throws what is to be answered. */
  async takeMore(request: FastifyRequest, reply: FastifyReply, more: number): Promise<void> {
    const { principal } = request;
    if (principal === null || more <= 0) return;
    const budget = await this.#budgetOf(principal);
    const subject = subjectOf(principal);
    const state = await this.quota.take(subject, budget, more);
    const { allowed, remaining } = state;
    const shown = allowed ? state : { ...state, remaining: Math.min(state.limit, remaining + 1) };
    reply.headers(quotaHeaders(shown, budget.windowMs, this.clock.now()));
    if (allowed) return;
    // A request that is refused costs nothing, what it paid when it came in included.
    await this.quota.putBack(subject, 1);
    throw this.#refused(`The budget of ${budget.limit} requests per hour does not reach so far.`, state.resetAtMs);
  }

  /** How the budget stands that pays for the organisation's keys; `state` null: no window has begun. */
  async standing(payer: Payer): Promise<{ readonly limit: number; readonly state: QuotaState | null }> {
    const budget = await this.#budgetOf(payer);
    return { limit: budget.limit, state: await this.quota.look(subjectOf(payer), budget) };
  }

  /** Looked up each time: a change of the plan is felt by the next request, through every gateway. */
  async #budgetOf(payer: Payer): Promise<Budget> {
    const found = await this.readStore.get(organizationsView, payer.organizationId);
    const limit = found?.rateLimit ?? budgetOfPlan[found?.plan ?? this.config.defaultPlan];
    return { limit: isPerson(payer) ? limit * sessionsFactor : limit, windowMs: hourMs };
  }

  async close(): Promise<void> {
    // Where the store is away, what is held stays taken until its window ends.
    await this.quota.close().catch(() => undefined);
  }

  #refused(message: string, resetAtMs: number): AppError {
    const retryAfterSeconds = Math.max(1, Math.ceil((resetAtMs - this.clock.now()) / 1_000));
    return new AppError('RATE_LIMITED', 'rate_limited', message, { retryAfterSeconds });
  }
}
