/** The accounts service: the setup of the instance, its organisation, members, API keys and sessions. */
import { Module } from '@nestjs/common';
import { CommandBus, CqrsModule, QueryBus } from '@nestjs/cqrs';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE } from '#eventing/service';
import { KEY_PEPPER } from '#http/api-key';
import { READ_STORE, type ViewStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { IDS, type Ids } from '#runtime/ids';
import { LOGGER } from '#runtime/logger';
import { SHARED_STATE, type SharedState } from '#shared-state/shared-state';
import { VAULT, type Vault } from '#vault/vault';
import { createAttempts } from './attempts.js';
import {
  ACCOUNT_PORTS,
  CloseSessionHandler,
  createAccountViews,
  CreateKeyHandler,
  OpenSessionHandler,
  RevokeKeyHandler,
  SetUpHandler,
  ShowKeyHandler,
  ShowSessionHandler,
  type HandlerPorts,
} from './handlers.js';
import { createPasswords } from './passwords.js';
import type { KeyPorts } from './ports.js';
import { createAccountsService, createSetupLink, SETUP_LINK } from './service.js';

const KEY_PORTS = Symbol('KeyPorts');

@Module({
  imports: [CqrsModule],
  providers: [
    {
      provide: KEY_PORTS,
      inject: [EVENT_STORE, CLOCK, IDS, KEY_PEPPER],
      useFactory: (eventStore: EventStore, clock: Clock, ids: Ids, pepper: Uint8Array): KeyPorts => ({
        eventStore,
        clock,
        ids,
        pepper,
      }),
    },
    {
      provide: ACCOUNT_PORTS,
      inject: [KEY_PORTS, READ_STORE, SHARED_STATE, VAULT, CONFIG],
      useFactory: (
        ports: KeyPorts,
        readStore: ViewStore,
        sharedState: SharedState,
        vault: Vault,
        { defaultPlan }: Config,
      ): HandlerPorts => ({
        ...ports,
        readStore,
        vault,
        plan: defaultPlan,
        passwords: createPasswords(),
        attempts: createAttempts(sharedState, ports.clock),
        views: createAccountViews(readStore),
      }),
    },
    SetUpHandler,
    CreateKeyHandler,
    RevokeKeyHandler,
    OpenSessionHandler,
    CloseSessionHandler,
    ShowKeyHandler,
    ShowSessionHandler,
    {
      provide: SERVICE,
      inject: [ACCOUNT_PORTS, CONFIG, CommandBus, QueryBus, LOGGER],
      useFactory: createAccountsService,
    },
    { provide: SETUP_LINK, inject: [ACCOUNT_PORTS], useFactory: createSetupLink },
    ServiceRunner,
  ],
  exports: [SETUP_LINK],
})
export class AccountsModule {}
