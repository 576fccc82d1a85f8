/** When an outcome becomes a notification: the user's policy and the words of a decision. */
import { z } from 'zod';
import { notificationKind } from './action.js';
import { idSchema } from './common.js';
import { dayMinutes, minutesOfDay, storedWindow, timezone, weekDays, weekWindow } from './week-time.js';

const yearSeconds = 31_536_000;

const quietWindow = weekWindow.extend({ timezone }).meta({ id: 'QuietWindow' });
export type QuietWindow = z.infer<typeof quietWindow>;

/** As the API takes and answers it, all fields there. */
const settings = z.strictObject({
  notifyOn: z
    .enum(['became_true', 'every_true', 'changed'])
    .default('became_true')
    .describe(
      'Notify when the condition becomes true, on every run that finds it true, or when the reported value changes.',
    ),
  confirmations: z.int().min(1).max(100).default(1).describe('So many outcomes in a row until a condition is true.'),
  recoveryConfirmations: z
    .int()
    .min(1)
    .max(100)
    .default(1)
    .describe('So many outcomes in a row until a condition is false.'),
  cooldownSeconds: z
    .int()
    .min(0)
    .max(yearSeconds)
    .default(0)
    .describe('So long after a trigger no other one goes out.'),
  reminderSeconds: z
    .int()
    .min(0)
    .max(yearSeconds)
    .default(0)
    .describe('Notify again after so long while the condition is still true. 0: never.'),
  errorThreshold: z.int().min(1).max(100).default(3).describe('Failed runs in a row until health is `error`.'),
  flapWindow: z
    .union([z.literal(0), z.int().min(4).max(100)], { error: 'must be 0 or a whole number from 4 to 100' })
    .default(0)
    .describe('So many outcomes are looked at for flapping. 0: none.'),
  quietHours: z.array(quietWindow).max(20).default([]).describe('Local times in which nothing is sent.'),
  maxPerHour: z.int().min(0).max(100).default(0).describe('Messages in any 60 minutes. 0: no limit.'),
  dependsOn: z
    .array(idSchema('ntf'))
    .max(20)
    .refine((ids) => new Set(ids).size === ids.length, { error: 'must name each notification once' })
    .meta({ uniqueItems: true })
    .default([])
    .describe('Nothing is sent while one of these is true or cannot be checked.'),
  muted: z.boolean().default(false).describe('Run and decide, but send nothing.'),
});

/** Whether these windows of one zone leave no minute of the week. */
function coversTheWeek(windows: readonly QuietWindow[]): boolean {
  const minutes = new Set<number>();
  for (const { days, from, to } of windows) {
    const first = minutesOfDay(from);
    const last = minutesOfDay(to) > first ? minutesOfDay(to) : minutesOfDay(to) + dayMinutes;
    for (const day of days) {
      const midnight = weekDays.indexOf(day) * dayMinutes;
      for (let minute = first; minute < last; minute += 1) minutes.add((midnight + minute) % (7 * dayMinutes));
    }
  }
  return minutes.size === 7 * dayMinutes;
}

interface Contradiction {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Settings of which one takes away what another one asks for. A user who writes them expects something that never comes. */
function contradictions(policy: z.output<typeof settings>): readonly Contradiction[] {
  const { notifyOn, reminderSeconds, recoveryConfirmations, quietHours } = policy;
  const found: Contradiction[] = [];
  if (reminderSeconds > 0 && notifyOn !== 'became_true') {
    const message =
      notifyOn === 'every_true'
        ? 'must be 0 with every_true, which notifies on every run that is true; space them by cooldownSeconds'
        : 'must be 0 with changed: a change is over at once, and leaves nothing to remind of';
    found.push({ path: ['reminderSeconds'], message });
  }
  if (recoveryConfirmations > 1 && notifyOn === 'changed') {
    found.push({
      path: ['recoveryConfirmations'],
      message: 'must be 1 with changed, which knows no recovery; confirmations hold both ways',
    });
  }
  for (const [index, { from, to }] of quietHours.entries()) {
    if (from === to) {
      found.push({
        path: ['quietHours', index, 'to'],
        message: 'must differ from `from`; a whole day is 00:00 to 24:00',
      });
    }
  }
  const zones = Map.groupBy(quietHours, ({ timezone }) => timezone);
  if ([...zones.values()].some(coversTheWeek)) {
    found.push({ path: ['quietHours'], message: 'must leave a minute of the week; `muted` is for sending nothing' });
  }
  return found;
}

/** As configuration files write it: tasks that this one depends on by their keys too. Contradictions are found later. */
export const portablePolicy = settings.extend({
  dependsOn: z
    .array(z.string().min(1).max(200))
    .max(20)
    .default([])
    .describe('Keys (`externalKey`) or ids of notifications.'),
});

export const policy = settings
  .superRefine((value, context) => {
    for (const { path, message } of contradictions(value)) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
  })
  .meta({ id: 'Policy' });
export type Policy = z.infer<typeof policy>;

/** As stored with a task: what has its default is left out, but for the two fields that were there first. */
export const storedPolicy = z.object({
  notifyOn: z.enum(['became_true', 'every_true', 'changed']).default('became_true'),
  errorThreshold: z.int().min(1).max(100).default(3),
  confirmations: z.int().optional(),
  recoveryConfirmations: z.int().optional(),
  cooldownSeconds: z.int().optional(),
  reminderSeconds: z.int().optional(),
  flapWindow: z.int().optional(),
  quietHours: z.array(storedWindow.extend({ timezone: z.string() })).optional(),
  maxPerHour: z.int().optional(),
  dependsOn: z.array(idSchema('ntf')).optional(),
  muted: z.boolean().optional(),
});
export type StoredPolicy = z.infer<typeof storedPolicy>;

const defaults: Policy = settings.parse({});

/** Every field, those that are not stored with their defaults. */
export function wholePolicy(stored: StoredPolicy): Policy {
  return Object.assign({}, defaults, stored);
}

/** Without what has its default: two policies that say the same are stored the same. */
export function toStoredPolicy({ notifyOn, errorThreshold, ...others }: Policy): StoredPolicy {
  const plain = new Map<string, unknown>(Object.entries(defaults));
  const own = Object.entries(others).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(plain.get(name)),
  );
  return { notifyOn, errorThreshold, ...Object.fromEntries(own) };
}

/** What a task's outcomes add up to. */
export const settledCondition = z.enum(['unknown', 'false', 'true']);

/** As it is shown: `flapping` while it changes so often that neither side means anything. */
export const condition = z.enum([...settledCondition.options, 'flapping']);
export type Condition = z.infer<typeof condition>;

/** `blocked`: this instance refuses what the task needs, so trying again changes nothing. */
export const health = z.enum(['ok', 'error', 'blocked']);
export type Health = z.infer<typeof health>;

export const decisionReason = z.enum([
  'became_true',
  'every_true',
  'changed',
  'reminder',
  'recovered',
  'error_threshold',
  'forced',
  'still_true',
  'not_true',
  'awaiting_confirmation',
  'error_below_threshold',
  'cooldown',
  'flapping',
  'quiet_hours',
  'muted',
  'paused',
  'dependency_down',
  'rate_capped',
  'not_changed',
  'dry_run',
  'no_actions',
]);
export type DecisionReason = z.infer<typeof decisionReason>;

export const transition = z
  .object({
    kind: z.enum(['condition', 'health']).describe('Of the condition, or of the health.'),
    from: z.string().describe('As it was.'),
    to: z.string().describe('As it is.'),
  })
  .meta({ id: 'Transition' });
export type Transition = z.infer<typeof transition>;

export const decision = z
  .object({
    notify: z.boolean().describe('Whether messages were made.'),
    reason: decisionReason.describe('Why, or why not.'),
    transition: transition.nullable().describe('What changed; null: nothing.'),
    wouldTell: z
      .object({
        kind: notificationKind.describe('The kind of message.'),
        reason: decisionReason.describe('Why it would be told.'),
      })
      .optional()
      .describe('Of `no_actions`: the message that no enabled action listens to.'),
  })
  .meta({ id: 'Decision' });
export type Decision = z.infer<typeof decision>;
