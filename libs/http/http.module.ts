/** What every process that listens has in common; the noun's own controllers come from its service. */
import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { LEASES, type Leases } from '#leases/leases';
import { CLOCK, type Clock } from '#runtime/clock';
import { SHARED_STATE, type SharedState } from '#shared-state/shared-state';
import { VAULT, type Vault } from '#vault/vault';
import { AnswerInterceptor, IDEMPOTENCY_RECORDS } from './answer.interceptor.js';
import { Budgets } from './budgets.js';
import { ErrorFilter } from './error-filter.js';
import { FrontDoor } from './front-door.js';
import { createIdempotencyRecords } from './idempotency.js';
import { createLastUses, LAST_USES } from './last-use.js';
import { createQuota, QUOTA } from './quota.js';
import { Pruner } from './pruner.js';
import { RouteGuard } from './route-guard.js';
import { RouteTable } from './route-table.js';
import { SessionTokens } from './session-tokens.js';

@Module({
  providers: [
    RouteTable,
    FrontDoor,
    Budgets,
    SessionTokens,
    Pruner,
    {
      provide: QUOTA,
      useFactory: (sharedState: SharedState, clock: Clock) => createQuota(sharedState, clock),
      inject: [SHARED_STATE, CLOCK],
    },
    {
      provide: LAST_USES,
      useFactory: (sharedState: SharedState, clock: Clock) => createLastUses(sharedState, clock),
      inject: [SHARED_STATE, CLOCK],
    },
    {
      provide: IDEMPOTENCY_RECORDS,
      useFactory: (sharedState: SharedState, vault: Vault, clock: Clock, leases: Leases) =>
        createIdempotencyRecords(sharedState, vault, clock, leases),
      inject: [SHARED_STATE, VAULT, CLOCK, LEASES],
    },
    { provide: APP_GUARD, useClass: RouteGuard },
    { provide: APP_INTERCEPTOR, useClass: AnswerInterceptor },
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
  exports: [RouteTable, FrontDoor, Budgets, SessionTokens, LAST_USES, IDEMPOTENCY_RECORDS],
})
export class HttpModule {}
