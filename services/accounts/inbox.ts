/** What comes in for accounts: setup, keys, sessions. Sets the instance up from the environment before it is ready. */
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { BUS, type Bus, type Consumer } from '#bus/bus';
import { keyInput, openSessionInput, revokeKeyInput, sessionToken, setupInput, showKeyInput } from '#contracts/account';
import { requests } from '#contracts/catalogue';
import { LEASES, type LeasedWork, type Leases } from '#leases/leases';
import { startSweep } from '#leases/sweep';
import { startProjection } from '#eventing/projection';
import { CONFIG, ConfigError, type Config } from '#runtime/config';
import { LOGGER, type Logger } from '#runtime/logger';
import { patiently } from '#runtime/patience';
import { SHARED_STATE, type SharedState } from '#shared-state/shared-state';
import {
  ACCOUNT_PORTS,
  CloseSession,
  CreateKey,
  OpenSession,
  RevokeKey,
  SetUp,
  ShowKey,
  ShowSession,
  type HandlerPorts,
} from './handlers.js';
import { openSetup } from './setup.js';
import { checkOwnerSettings, setUpByEnvironment } from './setup-by-environment.js';
import { accountProjections } from './views.js';

const pruneEveryMs = 3_600_000;

export class AccountsInbox implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private running: readonly (Consumer | LeasedWork)[] = [];

  constructor(
    @Inject(CommandBus) private readonly commands: CommandBus,
    @Inject(QueryBus) private readonly queries: QueryBus,
    @Inject(ACCOUNT_PORTS) private readonly ports: HandlerPorts,
    @Inject(SHARED_STATE) private readonly sharedState: SharedState,
    @Inject(BUS) private readonly bus: Bus,
    @Inject(LEASES) private readonly leases: Leases,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Throws `ConfigError` where an OWNER_* setting is unusable. */
  async onApplicationBootstrap(): Promise<void> {
    const faults = checkOwnerSettings(this.config);
    if (faults.length > 0) throw new ConfigError(faults);
    const { eventStore, readStore } = this.ports;
    const { sharedState, bus, leases, logger } = this;
    this.running = [
      ...accountProjections.map((projection) =>
        startProjection({ ...projection, eventStore, readStore, sharedState, leases, logger }),
      ),
      startSweep({
        leases,
        name: 'expired-sign-in-attempts',
        everyMs: pruneEveryMs,
        logger,
        sweep: () => this.ports.attempts.prune(),
      }),
      await bus.respond(requests.accountSetup, async (payload, context) =>
        this.commands.execute(new SetUp(setupInput.parse(payload), context)),
      ),
      await bus.respond(requests.keyCreate, async (payload, context) =>
        this.commands.execute(new CreateKey(keyInput.parse(payload), context)),
      ),
      await bus.respond(requests.keyShow, async (payload, { organizationId }) =>
        this.queries.execute(new ShowKey(showKeyInput.parse(payload).keyId, organizationId)),
      ),
      await bus.respond(requests.keyRevoke, async (payload, context) => {
        const { keyId } = revokeKeyInput.parse(payload);
        await this.commands.execute(new RevokeKey(keyId, context));
        return { id: keyId, deleted: true };
      }),
      await bus.respond(requests.sessionOpen, async (payload, context) =>
        this.commands.execute(new OpenSession(openSessionInput.parse(payload), context)),
      ),
      await bus.respond(requests.sessionShow, async (payload) =>
        this.queries.execute(new ShowSession(sessionToken.parse(payload).token)),
      ),
      await bus.respond(requests.sessionClose, async (payload, context) => {
        await this.commands.execute(new CloseSession(sessionToken.parse(payload).token, context));
        return { closed: true };
      }),
    ];
    await patiently(() => this.setUpByEnvironment(), {
      waiting: ({ reason }) => this.logger.warn({ reason }, 'cannot be set up from the environment yet; trying again'),
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.running.map((part) => part.stop()));
  }

  /**
   * Where to set this instance up, below the address people reach it by; null once that is done. The token stays the same
   * across restarts; behind # it reaches no server's log.
   */
  async setupLink(baseUrl: string): Promise<string | null> {
    const token = await openSetup(this.ports);
    return token === null ? null : `${baseUrl.replace(/\/+$/, '')}/setup#token=${token}`;
  }

  /** Awaited before the instance is ready, so that whoever waits for that may use OWNER_API_KEY at once. */
  private async setUpByEnvironment(): Promise<void> {
    const { owner } = this.config;
    if (owner === null) return;
    const positions = await setUpByEnvironment(this.ports, owner, this.logger);
    if (await this.ports.views.knowSetup(positions)) return;
    this.logger.warn({}, 'the views are late: OWNER_API_KEY will let requests in once they have caught up');
  }
}
