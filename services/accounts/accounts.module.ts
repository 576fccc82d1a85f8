/** The accounts service: the setup of the instance, its organisation, members, API keys and sessions. */
import { Module } from '@nestjs/common';
import { ServiceRunner } from '#eventing/run-service';
import { HEAD_LINES, AUDIT_SIGNER, type AuditSigner, type KeepHeadLine } from '#eventing/audit-heads';
import { SERVICE, type Service } from '#eventing/service';
import { SERVICE_PORTS, ServicePortsModule, type ServicePorts } from '#eventing/service-ports';
import { KEY_PEPPER, LINK_PEPPER } from '#contracts/api-key';
import { createMailer } from '#mail/smtp';
import { OUTBOUND, type Outbound } from '#outbound/outbound';
import { CONFIG, PUBLIC_ADDRESS, type Config, type PublicAddress } from '#runtime/config';
import { IDS, type Ids } from '#runtime/ids';
import { STORED_EVENTS, type EventStore } from '#event-store/event-store';
import { EVENT_OPENER, type EventOpener } from '#vault/sealed-events';
import { VAULT, type Vault } from '#vault/vault';
import { withAudit } from './audit/service.js';
import { AccountQueryHandler } from './account-query.js';
import { createAttempts } from './attempts.js';
import { createAccountViews } from './await-account-views.js';
import { ChangeAccountHandler } from './change-account.js';
import { ChangeMembersHandler } from './change-members.js';
import { createKeyCopies } from './key-copies.js';
import { MembersQueryHandler } from './members-query.js';
import { createProviderClient } from './oidc/provider.js';
import { createPasswords } from './passwords.js';
import { createPostOffice } from './post-office.js';
import { ACCOUNT_PORTS, type AccountPorts } from './ports.js';
import { createAccountsService, createSetupLink, SETUP_LINK } from './service.js';

function createAccountPorts(
  ports: ServicePorts,
  ids: Ids,
  pepper: Uint8Array,
  linkPepper: Uint8Array,
  vault: Vault,
  config: Config,
  outbound: Outbound,
  address: PublicAddress,
): AccountPorts {
  const { sharedState, clock, logger, readStore } = ports;
  const { defaultPlan: plan, keysShowOnce, mailFrom, smtpUrl, insecureOk, egressAuthorities: authorities } = config;
  const mailer = smtpUrl === null ? null : createMailer(smtpUrl, outbound, { insecureOk, authorities });
  return {
    ...ports,
    ids,
    pepper,
    linkPepper,
    vault,
    plan,
    keysShowOnce,
    address,
    passwords: createPasswords(),
    attempts: createAttempts(sharedState, clock),
    views: createAccountViews(readStore, ports.eventStore, sharedState),
    keyCopies: createKeyCopies(sharedState, vault, clock, { keepsNone: keysShowOnce }),
    providers: new Map(
      config.oidcProviders.map((settings) => {
        const client = createProviderClient(settings, outbound, () => clock.now());
        return [settings.id, { settings, client }] as const;
      }),
    ),
    postOffice: createPostOffice(mailer, { mailFrom, clock, logger }),
  };
}

@Module({
  imports: [ServicePortsModule],
  providers: [
    {
      provide: ACCOUNT_PORTS,
      inject: [SERVICE_PORTS, IDS, KEY_PEPPER, LINK_PEPPER, VAULT, CONFIG, OUTBOUND, PUBLIC_ADDRESS],
      useFactory: createAccountPorts,
    },
    ChangeAccountHandler,
    AccountQueryHandler,
    ChangeMembersHandler,
    MembersQueryHandler,
    {
      provide: SERVICE,
      inject: [ACCOUNT_PORTS, CONFIG, SERVICE_PORTS, STORED_EVENTS, EVENT_OPENER, AUDIT_SIGNER, HEAD_LINES],
      useFactory: (
        accounts: AccountPorts,
        config: Config,
        ports: ServicePorts,
        storedEvents: EventStore,
        opener: EventOpener,
        signer: AuditSigner,
        keepLine: KeepHeadLine,
      ): Service =>
        withAudit(createAccountsService(accounts, config), { ...ports, storedEvents, opener, signer, keepLine }),
    },
    { provide: SETUP_LINK, inject: [ACCOUNT_PORTS], useFactory: createSetupLink },
    ServiceRunner,
  ],
  exports: [SETUP_LINK],
})
export class AccountsModule {}
