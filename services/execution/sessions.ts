/**
 * What a browser leaves of a task's visit for its next one: cookies and local storage, sealed with the task's own key and
 * bound to where the task goes and how it signs in. It is lost where either changes, and costs a run its sign-in at most.
 */
import { hash } from 'node:crypto';
import type { FetchSettings } from '#contracts/fetch';
import type { Sweep } from '#eventing/service';
import type { Clock } from '#runtime/clock';
import type { JsonObject } from '#runtime/json';
import type { Logger } from '#runtime/logger';
import type { Expiring, SharedState, StateCollection } from '#shared-state/shared-state';
import type { Vault } from '#vault/vault';

interface KeptSession extends Expiring {
  /** The task. */
  readonly id: string;
  readonly sealed: JsonObject;
}

export const browserSessions: StateCollection<KeptSession> = { name: 'browser_sessions', indexedBy: 'expiresAtMs' };

const keptMs = 30 * 86_400_000;
const sweepEveryMs = 3_600_000;
/** Bytes of one session; a larger one is not kept. */
const mostBytes = 524_288;
const scope = 'session';

export interface SessionDeps {
  readonly sharedState: SharedState;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function keepsSession({ mode, browser }: FetchSettings): boolean {
  return mode === 'browser' && browser?.keepSession === true;
}

/** Whose visits may have it: the same origin, the same steps, the same person. */
function boundTo(url: string, { browser, auth, headers, proxy, userAgent }: FetchSettings): string {
  const origin = URL.parse(url)?.origin ?? '';
  return hash('sha256', JSON.stringify([origin, browser?.steps, auth ?? null, headers, proxy, userAgent]), 'hex');
}

/** null: none is kept, or it belongs to other settings. */
export async function sessionOf(
  { sharedState, vault, logger }: SessionDeps,
  taskId: string,
  url: string,
  settings: FetchSettings,
): Promise<string | null> {
  if (!keepsSession(settings)) return null;
  const kept = (await sharedState.load(browserSessions, [taskId])).get(taskId)?.value ?? null;
  if (kept === null) return null;
  try {
    const { storage, bound } = await vault.open(taskId, scope, kept.sealed);
    return bound === boundTo(url, settings) && typeof storage === 'string' ? storage : null;
  } catch (error) {
    logger.warn({ taskId, error: String(error) }, 'a kept session cannot be opened; the run begins without it');
    return null;
  }
}

export async function forgetSession({ sharedState }: Pick<SessionDeps, 'sharedState'>, taskId: string): Promise<void> {
  const stored = (await sharedState.load(browserSessions, [taskId])).get(taskId);
  if (stored === undefined || stored.value === null) return;
  await sharedState.save(browserSessions, [{ key: taskId, version: stored.version + 1, value: null }]);
}

/** `storage` null: there is nothing to keep any more. A store that does not answer costs the next run its session, never this one its result. */
export async function keepSession(
  deps: SessionDeps,
  taskId: string,
  url: string,
  settings: FetchSettings,
  storage: string | null,
): Promise<void> {
  const { sharedState, vault, clock, logger } = deps;
  try {
    const isTooLarge = storage !== null && Buffer.byteLength(storage) > mostBytes;
    if (isTooLarge) logger.warn({ taskId, mostBytes }, 'the session of a page is too large to be kept');
    if (storage === null || isTooLarge) return await forgetSession(deps, taskId);
    const session = { storage, bound: boundTo(url, settings) };
    const sealed = await vault.seal(taskId, scope, session, ['storage', 'bound']);
    const version = ((await sharedState.load(browserSessions, [taskId])).get(taskId)?.version ?? 0) + 1;
    const value: KeptSession = { id: taskId, expiresAtMs: clock.now() + keptMs, sealed };
    await sharedState.save(browserSessions, [{ key: taskId, version, value }]);
  } catch (error) {
    logger.warn({ taskId, error: String(error) }, 'a session could not be kept');
  }
}

export const expiredSessions = ({ sharedState, clock }: Pick<SessionDeps, 'sharedState' | 'clock'>): Sweep => ({
  name: 'browser-sessions',
  everyMs: sweepEveryMs,
  sweep: () => sharedState.removeExpired(browserSessions, clock.now()),
});
