/** The accounts service: the setup of the instance, its organisation, members, API keys and sessions. */
import { Module } from '@nestjs/common';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE } from '#eventing/service';
import { SERVICE_PORTS, ServicePortsModule, type ServicePorts } from '#eventing/service-ports';
import { KEY_PEPPER } from '#contracts/api-key';
import { CONFIG, type Config } from '#runtime/config';
import { IDS, type Ids } from '#runtime/ids';
import { VAULT, type Vault } from '#vault/vault';
import { AccountQueryHandler } from './account-query.js';
import { createAttempts } from './attempts.js';
import { createAccountViews } from './await-account-views.js';
import { ChangeAccountHandler } from './change-account.js';
import { createPasswords } from './passwords.js';
import { ACCOUNT_PORTS, type AccountPorts } from './ports.js';
import { createAccountsService, createSetupLink, SETUP_LINK } from './service.js';

@Module({
  imports: [ServicePortsModule],
  providers: [
    {
      provide: ACCOUNT_PORTS,
      inject: [SERVICE_PORTS, IDS, KEY_PEPPER, VAULT, CONFIG],
      useFactory: (
        ports: ServicePorts,
        ids: Ids,
        pepper: Uint8Array,
        vault: Vault,
        { defaultPlan: plan }: Config,
      ): AccountPorts => ({
        ...ports,
        ids,
        pepper,
        vault,
        plan,
        passwords: createPasswords(),
        attempts: createAttempts(ports.sharedState, ports.clock),
        views: createAccountViews(ports.readStore),
      }),
    },
    ChangeAccountHandler,
    AccountQueryHandler,
    { provide: SERVICE, inject: [ACCOUNT_PORTS, CONFIG], useFactory: createAccountsService },
    { provide: SETUP_LINK, inject: [ACCOUNT_PORTS], useFactory: createSetupLink },
    ServiceRunner,
  ],
  exports: [SETUP_LINK],
})
export class AccountsModule {}
