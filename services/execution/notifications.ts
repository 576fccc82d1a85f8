/** From intents to one request per subscribing action: frozen here, so that every attempt says the same. */
import type { StoredAction } from '#contracts/action';
import type { NotificationRequest } from '#contracts/delivery';
import { sentenceOf } from '#contracts/message-sentence';
import type { AlertState, RunResult } from '#contracts/run';
import type { TaskDocument } from '#contracts/task';
import { adviceOn } from '#hints/hint';
import { derivedId } from '#runtime/ids';
import type { NotificationIntent } from './domain/alert/step.js';

/** What the notifications of a run leave behind for those that follow. */
export interface Notifications {
  readonly notifications: NotificationRequest[];
  readonly alert: AlertState;
}

type EpisodeKind = 'condition' | 'health';

interface Episode {
  readonly kind: EpisodeKind;
  readonly key: string;
}

/** A change is over at once, and a run by hand may tell of no episode: such a message stands alone. */
function episodeOf({ dedupKey }: NotificationIntent, { told, episode, condition }: AlertState): Episode | null {
  if (dedupKey.startsWith('health:')) return { kind: 'health', key: dedupKey };
  if (dedupKey.startsWith('condition:')) return { kind: 'condition', key: dedupKey };
  if (dedupKey.startsWith('changed:') || told !== 'true' || condition !== 'true') return null;
  return { kind: 'condition', key: `condition:${episode}` };
}

/** What has to hold still when a message goes out later than it was decided. */
function providedThat(
  { kind, dedupKey }: NotificationIntent,
  { episode, healthEpisode, lastValue }: AlertState,
): Pick<NotificationRequest, 'provided'> {
  if (kind === 'error') return { provided: { kind: 'health', is: String(healthEpisode) } };
  if (dedupKey.startsWith('changed:')) return { provided: { kind: 'value', is: lastValue ?? '' } };
  return { provided: { kind: 'condition', is: String(episode) } };
}

const later = (at: string, seconds: number): string => new Date(Date.parse(at) + seconds * 1_000).toISOString();

/** An end has nothing to hold; what it ends was held, and says for itself whether it is sent. */
function heldFor(
  intent: NotificationIntent,
  { afterSeconds = 0, digestSeconds = 0 }: StoredAction,
  alert: AlertState,
  at: string,
): Pick<NotificationRequest, 'heldUntil' | 'provided'> {
  if (afterSeconds > 0) {
    return intent.kind === 'recovered' ? {} : { heldUntil: later(at, afterSeconds), ...providedThat(intent, alert) };
  }
  return digestSeconds > 0 ? { heldUntil: later(at, digestSeconds) } : {};
}

/** The messages of the open episodes with this one; an episode that has ended is forgotten. */
function withSent(
  alert: AlertState,
  { kind, key }: Episode,
  intent: NotificationIntent,
  action: StoredAction,
  deliveryId: string,
): AlertState {
  const { sent = {}, ...rest } = alert;
  const known = sent[kind];
  const actions = known?.episode === key ? known.actions : {};
  const before = actions[action.id];
  if (intent.kind === 'recovered') {
    const { [action.id]: _ended, ...left } = actions;
    const { [kind]: _episode, ...others } = sent;
    const kept = Object.keys(left).length === 0 ? others : { ...others, [kind]: { episode: key, actions: left } };
    return Object.keys(kept).length === 0 ? rest : { ...rest, sent: kept };
  }
  const entry = before === undefined ? { first: deliveryId } : { first: before.first, last: deliveryId };
  return { ...rest, sent: { ...sent, [kind]: { episode: key, actions: { ...actions, [action.id]: entry } } } };
}

/** Where a message is on its way that gathers others, this one goes with it; else it may be the one that gathers. */
function withDigest(
  alert: AlertState,
  action: StoredAction,
  deliveryId: string,
  at: string,
): { readonly alert: AlertState; readonly gatheredBy: string | null } {
  const { digests = {}, ...rest } = alert;
  const open = Object.fromEntries(Object.entries(digests).filter(([, { until }]) => until > at));
  const gathering = open[action.id];
  const next =
    gathering === undefined && (action.digestSeconds ?? 0) > 0
      ? { ...open, [action.id]: { by: deliveryId, until: later(at, action.digestSeconds ?? 0) } }
      : open;
  const after = Object.keys(next).length === 0 ? rest : { ...rest, digests: next };
  return { alert: after, gatheredBy: (action.digestSeconds ?? 0) > 0 ? (gathering?.by ?? null) : null };
}

/** Ids are derived from task, dedup key, kind and action: a run that is repeated after a crash asks for the same deliveries. */
export function notificationsFor(
  intents: readonly NotificationIntent[],
  task: TaskDocument,
  result: RunResult,
  decided: AlertState,
): Notifications {
  const notifications: NotificationRequest[] = [];
  let alert = decided;
  const { runId, outcome, values, finishedAt, scheduledFor, page } = result;
  const dueMs = Date.parse(scheduledFor);
  for (const intent of intents) {
    const episode = episodeOf(intent, decided);
    for (const action of task.spec.actions) {
      if (!action.enabled || !action.on.includes(intent.kind)) continue;
      const deliveryId = derivedId('dlv', dueMs, task.id, intent.dedupKey, intent.kind, action.id);
      const known = episode === null ? undefined : alert.sent?.[episode.kind];
      const before = known?.episode === episode?.key ? known?.actions[action.id] : undefined;
      const gathered = withDigest(alert, action, deliveryId, finishedAt);
      alert = gathered.alert;
      const held =
        gathered.gatheredBy === null
          ? heldFor(intent, action, decided, finishedAt)
          : { gatheredBy: gathered.gatheredBy };
      notifications.push({
        deliveryId,
        organizationId: task.organizationId,
        taskId: task.id,
        executionId: runId,
        action,
        kind: intent.kind,
        context: {
          task: {
            id: task.id,
            name: task.spec.name,
            ...(task.spec.description === '' ? {} : { description: task.spec.description }),
            url: task.spec.url,
            tags: task.spec.tags,
          },
          execution: { id: runId, outcome, values, finishedAt, finalUrl: page?.finalUrl ?? null },
          transition: intent.transition,
          message: sentenceOf(intent, task.spec.name, result),
          ...adviceOn(intent.kind, result.error),
        },
        createdAt: finishedAt,
        expiresAt: later('heldUntil' in held ? (held.heldUntil ?? finishedAt) : finishedAt, action.expireAfterSeconds),
        // A message that nothing ends stands under its own key.
        episode: episode?.key ?? intent.dedupKey,
        ...(before === undefined ? {} : { openedBy: before.first, follows: before.last ?? before.first }),
        ...held,
      });
      if (episode !== null) alert = withSent(alert, episode, intent, action, deliveryId);
    }
  }
  return { notifications, alert };
}
