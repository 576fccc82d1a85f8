/** What a decision is made of: what was found, what of the task bears on it, and what one rule makes of both. */
import type { NotificationKind, StoredAction } from '#contracts/action';
import type { Decision, DecisionReason, Policy, Transition } from '#contracts/policy';
import type { AlertState } from '#contracts/run';
import type { Acknowledged } from '#contracts/task';
import type { JsonObject } from '#runtime/json';

/** What was found: an outcome, or an error (`outcome` null). */
export interface Finding {
  readonly runId: string;
  readonly trigger: 'schedule' | 'manual';
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly scheduledFor: string;
  /** The time of the decision: there is no other clock. */
  readonly finishedAt: string;
  readonly outcome: boolean | null;
  readonly values: JsonObject;
  /** `page.state` after the run; null: the old one stays. */
  readonly state: JsonObject | null;
  /** The thread or process that ran it had to be ended. */
  readonly endedFromOutside: boolean;
  /** The network on this side failed, which says nothing of the page. */
  readonly isOwnNetwork?: boolean;
  /** This instance refuses what the run needs: trying again changes nothing. */
  readonly isBlocked?: boolean;
}

/** What of a task bears on the decision. */
export interface AlertContext {
  readonly policy: Policy;
  readonly paused: boolean;
  /** The last revision that edited the code or unpaused. */
  readonly codeRevision: number;
  readonly actions: readonly Pick<StoredAction, 'enabled' | 'on'>[];
  /** A task that this one depends on is true or cannot be checked. */
  readonly isDependencyDown: boolean;
  /** What somebody has taken on: no reminders of these episodes. Absent: nobody has. */
  readonly acknowledged?: Pick<Acknowledged, 'episodes' | 'until'>;
}

/** Whether somebody has taken on the open episode of the condition, and the time for that is not over. */
export function isAcknowledged(
  { told, episode }: AlertState,
  { finishedAt }: Finding,
  { acknowledged }: AlertContext,
): boolean {
  if (acknowledged === undefined || told !== 'true') return false;
  const { episodes, until } = acknowledged;
  return episodes.includes(`condition:${episode}`) && (until === null || finishedAt < until);
}

/** A notification to make. `dedupKey` makes the delivery's id: one edge never gets two ids. */
export interface NotificationIntent {
  readonly kind: NotificationKind;
  readonly dedupKey: string;
  readonly reason: DecisionReason;
  readonly transition: Transition | null;
  /** Of the policy `changed`, where both values are short: as JSON. */
  readonly change?: { readonly from: string; readonly to: string };
}

/** What one rule makes of a finding. */
export interface Step {
  readonly alert: AlertState;
  readonly reason: DecisionReason;
  readonly transition: Transition | null;
  readonly intent: NotificationIntent | null;
  /** The message that no action subscribes to. */
  readonly unheard?: NonNullable<Decision['wouldTell']>;
}

/** Milliseconds between two times. Of two runs at once the one that ended first may be decided last. */
export function apartMs(one: string, other: string): number {
  return Math.abs(Date.parse(one) - Date.parse(other));
}
