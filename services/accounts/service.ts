/** The accounts service: setup, keys and sessions. Sets the instance up from the environment before it is ready. */
import { patiently } from '#concurrency/patience';
import {
  keyInput,
  openSessionInput,
  revealKeyInput,
  revokeKeyInput,
  rotateKeyInput,
  sessionToken,
  setupInput,
  showKeyInput,
} from '#contracts/account';
import { recordActivity } from '#contracts/activity';
import { requests } from '#contracts/catalogue';
import type { Service } from '#eventing/service';
import { ConfigError, type Config } from '#runtime/config';
import { AccountQuery } from './account-query.js';
import { accountProjections } from './accounts-views.js';
import { ChangeAccount } from './change-account.js';
import { membersResponders } from './members-responders.js';
import type { AccountPorts } from './ports.js';
import { usedCodesCollection } from './second-factor.js';
import { openSetup } from './setup.js';
import { checkOwnerSettings, setUpByEnvironment } from './setup-by-environment.js';

const pruneEveryMs = 3_600_000;

/** `SetupLink`, as the accounts module gives it to the host. */
export const SETUP_LINK = Symbol('SetupLink');

/** Where to set this instance up, below the address people reach it by; null once that is done. */
export type SetupLink = (baseUrl: string) => Promise<string | null>;

/** The token stays the same across restarts; behind # it reaches no server's log. */
export const createSetupLink =
  (ports: AccountPorts): SetupLink =>
  async (baseUrl) => {
    const token = await openSetup(ports);
    return token === null ? null : `${baseUrl.replace(/\/+$/, '')}/setup#token=${token}`;
  };

/** Throws `ConfigError` where an OWNER_* setting is unusable. */
export function createAccountsService(ports: AccountPorts, config: Config): Service {
  const faults = checkOwnerSettings(config);
  if (faults.length > 0) throw new ConfigError(faults);
  const { owner } = config;
  const { logger } = ports;

  const setUp = async (): Promise<void> => {
    if (owner === null) return;
    const positions = await setUpByEnvironment(ports, owner, logger);
    if (await ports.views.reachSetup(positions)) return;
    logger.warn({}, 'the views are late: OWNER_API_KEY will let requests in once they have caught up');
  };

  return {
    name: 'accounts',
    projections: accountProjections,
    responders: [
      {
        request: requests.accountSetup,
        command: (payload, context) => new ChangeAccount({ type: 'setUp', input: setupInput.parse(payload) }, context),
      },
      {
        request: requests.keyCreate,
        command: (payload, context) =>
          new ChangeAccount({ type: 'createKey', input: keyInput.parse(payload) }, context),
      },
      {
        request: requests.keyShow,
        query: (payload, context) => new AccountQuery({ type: 'showKey', ...showKeyInput.parse(payload) }, context),
      },
      {
        request: requests.keyRevoke,
        command: (payload, context) =>
          new ChangeAccount({ type: 'revokeKey', ...revokeKeyInput.parse(payload) }, context),
      },
      {
        request: requests.keyRotate,
        command: (payload, context) =>
          new ChangeAccount({ type: 'rotateKey', input: rotateKeyInput.parse(payload) }, context),
      },
      {
        request: requests.activityRecord,
        command: (payload, context) =>
          new ChangeAccount({ type: 'recordActivity', activity: recordActivity.parse(payload) }, context),
      },
      {
        request: requests.keyReveal,
        command: (payload, context) =>
          new ChangeAccount({ type: 'revealKey', input: revealKeyInput.parse(payload) }, context),
      },
      {
        request: requests.sessionOpen,
        command: (payload, context) =>
          new ChangeAccount({ type: 'openSession', input: openSessionInput.parse(payload) }, context),
      },
      {
        request: requests.sessionShow,
        query: (payload, context) => new AccountQuery({ type: 'showSession', ...sessionToken.parse(payload) }, context),
      },
      {
        request: requests.sessionClose,
        command: (payload, context) =>
          new ChangeAccount({ type: 'closeSession', ...sessionToken.parse(payload) }, context),
      },
      {
        request: requests.sessionRotate,
        command: (payload, context) =>
          new ChangeAccount({ type: 'rotateSession', ...sessionToken.parse(payload) }, context),
      },
      ...membersResponders,
    ],
    sweeps: [
      { name: 'expired-sign-in-attempts', everyMs: pruneEveryMs, sweep: () => ports.attempts.prune() },
      {
        name: 'expired-codes',
        everyMs: pruneEveryMs,
        sweep: () => ports.sharedState.removeExpired(usedCodesCollection, ports.clock.now()),
      },
    ],
    // Before the instance is ready: OWNER_API_KEY is good from then on.
    ready: async () => {
      await patiently(setUp, {
        waiting: ({ reason }) => logger.warn({ reason }, 'cannot be set up from the environment yet; trying again'),
      });
      if (ports.keysShowOnce) await ports.keyCopies.dropAll();
    },
    closed: () => ports.postOffice.close(),
  };
}
