/** Followers of this process that cannot go on, for probes and Prometheus: what they keep is old meanwhile. */
import { setFollowerFailing } from '#runtime/metrics';

/** Since when each fails, by its name. */
const failingSinceMs = new Map<string, number>();

/** Shorter failures are the business of whatever they wait for. */
const toldAfterMs = 60_000;

/** Said again it began the first time. */
export function followerFails(name: string, nowMs = performance.now()): void {
  if (failingSinceMs.has(name)) return;
  failingSinceMs.set(name, nowMs);
  setFollowerFailing(name, true);
}

/** It has handled events again, or ended. */
export function followerGoesOn(name: string): void {
  if (failingSinceMs.delete(name)) setFollowerFailing(name, false);
}

/** Names of those that have failed for a minute. */
export function failingFollowers(nowMs = performance.now()): readonly string[] {
  return [...failingSinceMs].filter(([, sinceMs]) => nowMs - sinceMs >= toldAfterMs).map(([name]) => name);
}
