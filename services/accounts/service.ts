/** The accounts service: setup, keys and sessions. Sets the instance up from the environment before it is ready. */
import type { CommandBus, QueryBus } from '@nestjs/cqrs';
import { patiently } from '#concurrency/patience';
import { keyInput, openSessionInput, revokeKeyInput, sessionToken, setupInput, showKeyInput } from '#contracts/account';
import { requests } from '#contracts/catalogue';
import type { Service } from '#eventing/service';
import { ConfigError, type Config } from '#runtime/config';
import type { Logger } from '#runtime/logger';
import {
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
import { accountProjections } from './accounts-views.js';

const pruneEveryMs = 3_600_000;

/** `SetupLink`, as the accounts module gives it to the host. */
export const SETUP_LINK = Symbol('SetupLink');

/** Where to set this instance up, below the address people reach it by; null once that is done. */
export type SetupLink = (baseUrl: string) => Promise<string | null>;

/** The token stays the same across restarts; behind # it reaches no server's log. */
export const createSetupLink =
  (ports: HandlerPorts): SetupLink =>
  async (baseUrl) => {
    const token = await openSetup(ports);
    return token === null ? null : `${baseUrl.replace(/\/+$/, '')}/setup#token=${token}`;
  };

/** Throws `ConfigError` where an OWNER_* setting is unusable. */
export function createAccountsService(
  ports: HandlerPorts,
  config: Config,
  commands: CommandBus,
  queries: QueryBus,
  logger: Logger,
): Service {
  const faults = checkOwnerSettings(config);
  if (faults.length > 0) throw new ConfigError(faults);
  const { owner } = config;

  const setUp = async (): Promise<void> => {
    if (owner === null) return;
    const positions = await setUpByEnvironment(ports, owner, logger);
    if (await ports.views.knowSetup(positions)) return;
    logger.warn({}, 'the views are late: OWNER_API_KEY will let requests in once they have caught up');
  };

  return {
    name: 'accounts',
    projections: accountProjections,
    responders: [
      {
        request: requests.accountSetup,
        answer: (payload, context) => commands.execute(new SetUp(setupInput.parse(payload), context)),
      },
      {
        request: requests.keyCreate,
        answer: (payload, context) => commands.execute(new CreateKey(keyInput.parse(payload), context)),
      },
      {
        request: requests.keyShow,
        answer: (payload, { organizationId }) =>
          queries.execute(new ShowKey(showKeyInput.parse(payload).keyId, organizationId)),
      },
      {
        request: requests.keyRevoke,
        async answer(payload, context) {
          const { keyId } = revokeKeyInput.parse(payload);
          await commands.execute(new RevokeKey(keyId, context));
          return { id: keyId, deleted: true };
        },
      },
      {
        request: requests.sessionOpen,
        answer: (payload, context) => commands.execute(new OpenSession(openSessionInput.parse(payload), context)),
      },
      {
        request: requests.sessionShow,
        answer: (payload) => queries.execute(new ShowSession(sessionToken.parse(payload).token)),
      },
      {
        request: requests.sessionClose,
        async answer(payload, context) {
          await commands.execute(new CloseSession(sessionToken.parse(payload).token, context));
          return { closed: true };
        },
      },
    ],
    sweeps: [{ name: 'expired-sign-in-attempts', everyMs: pruneEveryMs, sweep: () => ports.attempts.prune() }],
    // Before the instance is ready, so that whoever waits for that may use OWNER_API_KEY at once.
    ready: () =>
      patiently(setUp, {
        waiting: ({ reason }) => logger.warn({ reason }, 'cannot be set up from the environment yet; trying again'),
      }),
  };
}
