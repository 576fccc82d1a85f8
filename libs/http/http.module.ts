/** What every process that listens has in common; the noun's own controllers come from its service. */
import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { LEASES, type Leases } from '#leases/leases';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { VAULT, type Vault } from '#vault/vault';
import { AnswerInterceptor, IDEMPOTENCY_RECORDS } from './answer.interceptor.js';
import { ErrorFilter } from './error-filter.js';
import { FrontDoor } from './front-door.js';
import { createIdempotencyRecords } from './idempotency.js';
import { createQuota, QUOTA } from './quota.js';
import { Pruner } from './pruner.js';
import { RouteGuard } from './route-guard.js';
import { RouteTable } from './route-table.js';

@Module({
  providers: [
    RouteTable,
    FrontDoor,
    Pruner,
    {
      provide: QUOTA,
      useFactory: (readStore: ReadStore, clock: Clock) => createQuota(readStore, clock),
      inject: [READ_STORE, CLOCK],
    },
    {
      provide: IDEMPOTENCY_RECORDS,
      useFactory: (readStore: ReadStore, vault: Vault, clock: Clock, leases: Leases) =>
        createIdempotencyRecords(readStore, vault, clock, leases),
      inject: [READ_STORE, VAULT, CLOCK, LEASES],
    },
    { provide: APP_GUARD, useClass: RouteGuard },
    { provide: APP_INTERCEPTOR, useClass: AnswerInterceptor },
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
  exports: [RouteTable, FrontDoor, IDEMPOTENCY_RECORDS],
})
export class HttpModule {}
