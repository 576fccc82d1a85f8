/** Runs: one load and evaluation of a task's page, the decision that followed, and what is to be sent. */
import { z } from 'zod';
import { notificationKind } from './action.js';
import { idSchema, jsonObject, storedTimestamp } from './common.js';
import { storedFetch } from './fetch.js';
import { decision, health, policy, settledCondition } from './policy.js';
import { dueRun, runTrigger, type DueRun } from './schedule.js';
import { notificationRequest } from './delivery.js';
import { defineEvent, type EventOf } from './event.js';
import type { TaskInput } from './task.js';
import type { ViewDefinition } from '#read-store/read-store';
import { codeForms } from '#sandbox/sandbox';

export const runStatus = z.enum(['queued', 'running', 'succeeded', 'failed', 'timed_out', 'skipped', 'cancelled']);
export type RunStatus = z.infer<typeof runStatus>;

export const runError = z
  .object({
    reason: z.string().describe('A stable word.'),
    message: z.string().describe('For people.'),
    /** In the user's own text, both from 1. */
    line: z.int().optional().describe('In the code, from 1.'),
    column: z.int().optional().describe('In the line, from 1.'),
    /** What to do about it. */
    hint: z.string().optional().describe('What to do about it.'),
  })
  .meta({ id: 'RunError' });
export type RunError = z.infer<typeof runError>;

/** What this instance refuses: an address, a browser that it does not have, code of a form that it no longer takes. */
const blockingReasons: ReadonlySet<string> = new Set(['address_denied', 'browser_unavailable', 'syntax_error']);

/** Whether trying again would change nothing. Code is parsed when it is saved: what cannot be parsed later was taken once. */
export function blocks(error: Pick<RunError, 'reason'> | null): boolean {
  return error !== null && blockingReasons.has(error.reason);
}

export const logLine = z
  .object({
    level: z.string().describe('`log`, `info`, `warn`, `error` or `debug`.'),
    message: z.string().describe('What was logged.'),
  })
  .meta({ id: 'LogLine' });

export const runPage = z
  .object({
    finalUrl: z.string().describe('Where redirects ended.'),
    status: z.int().nullable().describe('Of the answer; null: there was none.'),
    bytes: z.int().describe('Of the page in UTF-8.'),
    contentHash: z.string().nullable().describe('SHA-256 of the page.'),
    fromCache: z.boolean().describe('The page was as before, and so was what the code finds on it.'),
    refused: z
      .array(
        z.object({
          address: z.string().describe('What was asked for.'),
          reason: z.string().describe('Such as `address_denied`, `navigation`, `popup` or `download`.'),
          count: z.int().describe('How often.'),
        }),
      )
      .max(20)
      .optional()
      .describe('What a browser was refused while the page loaded.'),
  })
  .meta({ id: 'EvaluatedPage' });

export const runTimings = z
  .object({
    queueMs: z.number().describe('Until it was begun.'),
    fetchMs: z.number().describe('Until the page was there.'),
    parseMs: z.number().describe('Until the page was parsed.'),
    evaluateMs: z.number().describe('Until the code was done.'),
  })
  .meta({ id: 'Timings' });

/** The messages of one episode, by action. `last` absent: the first is the last one. */
export const sentMessages = z.object({
  episode: z.string(),
  actions: z.record(z.string(), z.object({ first: idSchema('dlv'), last: idSchema('dlv').exactOptional() })),
});
export type SentMessages = z.infer<typeof sentMessages>;

/** What is known of a task's condition after a run; every result carries it whole, so the last event is enough to go on. */
export const alertState = z.object({
  condition: settledCondition,
  /** The condition of the last notification, or `unknown` where there was none. */
  told: settledCondition,
  health,
  consecutiveErrors: z.int(),
  /** Grows at each confirmed edge. */
  episode: z.int(),
  healthEpisode: z.int(),
  /** Whether the error of this health episode was notified: only then is its recovery notified too. */
  healthTold: z.boolean(),
  /** The revision of the task that the condition belongs to. */
  codeRevision: z.int(),
  /** The last slot that was decided; an older result is kept as `late`. */
  lastSlot: storedTimestamp.nullable(),
  /** Runs recorded last, each by the end of its id: so a repeat is known. */
  recentRuns: z.array(z.string()),
  previous: z.object({ outcome: z.boolean().nullable(), values: jsonObject, at: storedTimestamp }).nullable(),
  /** `page.state` of the code. */
  state: jsonObject,
  /** Runs in a row that did not end by themselves: thread or process had to be ended. Absent: none. */
  timesEnded: z.int().optional(),
  /** Since when runs in a row failed because the network on this side was down. Absent: the last one did not. */
  ownNetworkSince: storedTimestamp.optional(),
  /** Outcomes in a row that differ from the condition and are too few to change it. Absent: none. */
  pending: z.int().optional(),
  /** The last outcomes, oldest first, `t` or `f` each, where the policy looks for flapping. */
  outcomes: z.string().optional(),
  /** The outcomes change so often that the condition is not notified. Absent: no. */
  flapping: z.boolean().optional(),
  /** A trigger was held back and its condition still holds. Absent: no. */
  held: z.boolean().optional(),
  /** The error of this health episode was held back. Absent: no. */
  healthHeld: z.boolean().optional(),
  /** When a trigger or reminder was notified last, where the policy has a cooldown or reminders. */
  triggeredAt: storedTimestamp.optional(),
  /** When the messages of the last hour were decided, where the policy limits them. */
  notifiedAt: z.array(storedTimestamp).optional(),
  /** In how many runs in a row each of these values was a number, up to ten; absent: none was. */
  numbers: z.record(z.string(), z.int()).optional(),
  /** Of the policy `changed`: the value that the next one is compared with, as JSON, or `#` and a hash where that is long. */
  lastValue: z.string().optional(),
  /** Values in a row that differ from it and are too few to be notified. Absent: none. */
  pendingValue: z.object({ value: z.string(), count: z.int() }).optional(),
  /** Of the open episode of the condition and of health: its messages by action. Absent: none was sent. */
  sent: z.object({ condition: sentMessages.exactOptional(), health: sentMessages.exactOptional() }).optional(),
  /** By action: the message that gathers those that come until then. Absent: none. */
  digests: z.record(z.string(), z.object({ by: idSchema('dlv'), until: storedTimestamp })).optional(),
});
export type AlertState = z.infer<typeof alertState>;

const rememberedLength = 10;

/** How a run stands among those recorded last: by the end of its id, fifty bits that no two of them share. */
export const rememberedRun = (runId: string): string => runId.slice(-rememberedLength);

/** Earlier versions remembered whole ids. */
export function isRemembered({ recentRuns }: Pick<AlertState, 'recentRuns'>, runId: string): boolean {
  return recentRuns.includes(rememberedRun(runId)) || recentRuns.includes(runId);
}

/** What is open after a run, by the names that messages of the same episode have. */
export function openEpisodesOf({ condition: found, told, episode, health: now, healthEpisode }: AlertState): string[] {
  const isOpen = found === 'true' || (found === 'unknown' && told === 'true');
  return [
    ...(isOpen ? [`condition:${told === 'true' ? episode : episode + 1}`] : []),
    ...(now !== 'ok' ? [`health:${healthEpisode}`] : []),
  ];
}

/** From so many runs in a row that had to be ended from outside, a task runs less often, until one ends well or its code changes. */
export const backsOffAfter = 3;

export function backsOff({ timesEnded = 0 }: AlertState): boolean {
  return timesEnded >= backsOffAfter;
}

export const runResult = z.object({
  runId: idSchema('exe'),
  taskId: idSchema('ntf'),
  taskRevision: z.int(),
  trigger: runTrigger,
  force: z.boolean(),
  dryRun: z.boolean(),
  status: runStatus,
  outcome: z.boolean().nullable(),
  values: jsonObject,
  logs: z.array(logLine),
  error: runError.nullable(),
  page: runPage.nullable(),
  snapshotId: z.string().nullable(),
  /** Of the page as a browser showed it. Absent: none was kept. */
  screenshotId: z.string().optional(),
  scheduledFor: storedTimestamp,
  queuedAt: storedTimestamp,
  startedAt: storedTimestamp,
  finishedAt: storedTimestamp,
  timings: runTimings,
  seed: z.string(),
  /** Why the code may have found nothing. Absent: the page does not say. */
  hint: z.string().optional(),
});
export type RunResult = z.infer<typeof runResult>;

/** What a candidate beside the task's own settings found and decided, of which nothing is sent. */
export const shadowResult = z.object({
  /** Which candidate: one that is put in its place begins anew. */
  startedAt: storedTimestamp,
  outcome: z.boolean().nullable(),
  /** Of its own code. */
  error: runError.nullable(),
  decision,
  alert: alertState,
});
export type ShadowResult = z.infer<typeof shadowResult>;

/** Result, decision and notification requests in one write. `late`: the slot was already decided; no transition. */
export const runRecorded = defineEvent('run.recorded', {
  version: 1,
  schema: z.object({
    result: runResult,
    decision,
    late: z.boolean(),
    notifications: z.array(notificationRequest),
    alert: alertState,
    /** Absent: there was no candidate. */
    shadow: shadowResult.optional(),
  }),
});

export const runEvents = [
  /** Claims a run, or renews the claim. */
  defineEvent('run.started', {
    version: 1,
    schema: z.object({ run: dueRun, startedAt: storedTimestamp, worker: z.string() }),
  }),
  /** The worker gave the run up before it was over: it is due as before, for the next one that claims it. */
  defineEvent('run.cancelled', {
    version: 1,
    schema: z.object({ run: dueRun, startedAt: storedTimestamp, worker: z.string(), reason: z.literal('shutdown') }),
  }),
  /** Its task was purged before it was due or begun: there is no such run. */
  defineEvent('run.forgotten', { version: 1, schema: z.object({ run: dueRun }) }),
  runRecorded,
] as const;
export type RunEvent = EventOf<(typeof runEvents)[number]>;

/** The view `executions`: one document per run, as the API answers it. */
export const executionDocument = z.object({
  id: idSchema('exe').describe('Of this execution.'),
  organizationId: idSchema('org'),
  notificationId: idSchema('ntf').describe('The task.'),
  revision: z.int().nullable().describe('Of the task.'),
  trigger: runTrigger.describe('What asked for it.'),
  status: runStatus.describe('How far it is, or how it ended.'),
  outcome: z.boolean().nullable().describe('What the code answered; null: nothing.'),
  values: jsonObject.describe('What the code reported, by name.'),
  logs: z.array(logLine).describe('What the code logged.'),
  error: runError.nullable().describe('Why it failed.'),
  decision: decision.nullable().describe('Whether it notified, and why.'),
  snapshotId: z.string().nullable().describe('The page as it was evaluated, where it is kept.'),
  screenshotId: z.string().optional().describe('The page as a browser showed it, where that was kept.'),
  page: runPage.nullable().describe('What was loaded.'),
  scheduledFor: storedTimestamp.describe('The slot; of a run by hand the time of the request.'),
  queuedAt: storedTimestamp.describe('When it was due.'),
  startedAt: storedTimestamp.nullable().describe('When it was begun.'),
  finishedAt: storedTimestamp.nullable().describe('When it ended.'),
  timings: runTimings.nullable().describe('How long each part took.'),
  seed: z.string().nullable().describe('What `Math.random()` began from.'),
  hint: z.string().optional().describe('Why the code may have found nothing, where the page says so.'),
  count: z
    .int()
    .min(1)
    .optional()
    .describe('Of slots in a row that have no run for the same reason, from `scheduledFor` on.'),
});
export type ExecutionDocument = z.infer<typeof executionDocument>;

export const executionsView: ViewDefinition<ExecutionDocument> = {
  isRemembered: true,
  isPacked: true,
  name: 'executions',
  fields: ['organizationId', 'notificationId', 'status', 'outcome', 'trigger', 'queuedAt', 'finishedAt'],
  indexes: [
    ['organizationId', 'queuedAt'],
    ['notificationId', 'queuedAt'],
    // One for every filter of the list: each costs a check a write where it is due and two where it is recorded.
    ['organizationId', 'trigger', 'status', 'outcome', 'queuedAt'],
  ],
  totals: ['organizationId', 'trigger', 'status', 'outcome'],
};

/** The view `skipped_slots`: one document per row of slots that have no run for the same reason, as the API answers it. */
export const skippedSlotsView: ViewDefinition<ExecutionDocument> = {
  ...executionsView,
  name: 'skipped_slots',
  readByFew: true,
};

/** Where the results of a task's runs are, the last one on top of all before it. */
export const runStream = (taskId: string): string => `run-${taskId}`;

/** Who has begun which run of a task. The first versions had a stream for each run, which are left as they are. */
export const claimStream = (taskId: string): string => `claim-${taskId}`;

/** A run as it stands before anything is known of it but that it is due. */
export function queuedExecution(run: DueRun, organizationId: string): ExecutionDocument {
  return {
    id: run.runId,
    organizationId,
    notificationId: run.taskId,
    revision: null,
    trigger: run.trigger,
    status: 'queued',
    outcome: null,
    values: {},
    logs: [],
    error: null,
    decision: null,
    snapshotId: null,
    page: null,
    scheduledFor: run.scheduledFor,
    queuedAt: run.queuedAt,
    startedAt: null,
    finishedAt: null,
    timings: null,
    seed: null,
  };
}

/** Asks the execution service for one run of settings that are stored nowhere (`run.test`): nothing is recorded, nothing sent. */
export const testRun = z.object({
  runId: idSchema('exe'),
  url: z.string(),
  evaluationFunction: z.string(),
  codeForm: z.enum(codeForms),
  /** Secrets sealed under the organisation. */
  fetch: storedFetch,
  policy,
  paused: z.boolean(),
  actions: z.array(z.object({ enabled: z.boolean(), on: z.array(notificationKind) })),
  queuedAt: storedTimestamp,
});
export type TestRun = z.infer<typeof testRun>;

/** The run of a task's settings. */
export function testRunOf(
  input: TaskInput,
  run: Pick<TestRun, 'runId' | 'codeForm' | 'queuedAt'> & Partial<Pick<TestRun, 'fetch'>>,
): TestRun {
  return testRun.parse({ ...input, paused: input.status === 'paused', ...run });
}

/** The answer: an execution that no list holds, its error with the place drawn. */
export const testExecution = executionDocument.omit({ organizationId: true }).extend({
  notificationId: z.null().describe('It is not saved.'),
  revision: z.null().describe('It is not saved.'),
  trigger: z.literal('test').describe('It was tried.'),
  error: runError
    .extend({ frame: z.string().optional().describe('The lines of the code around the place, a caret under it.') })
    .nullable()
    .describe('Why it failed.'),
  decision: decision.describe('What would be decided if it were the first run of a task.'),
});
export type TestExecution = z.infer<typeof testExecution>;

/** Asks the execution service to run a recorded run once more (`run.replay`): nothing is recorded, nothing sent. */
export const replayQuery = z.object({ executionId: idSchema('exe') });

/** What it found, and how that differs from what was recorded. */
export const replay = executionDocument
  .pick({ status: true, outcome: true, values: true, logs: true, error: true })
  .extend({
    same: z.boolean().describe('Whether it found the same.'),
    executionId: idSchema('exe').describe('The execution that was replayed.'),
    snapshotId: idSchema('snp').describe('The page.'),
    revision: z.int().describe('Of the task.'),
    seed: z.string().describe('As in the execution.'),
    differences: z
      .array(
        z.object({
          path: z.string().describe('Such as `values.price`.'),
          from: z.json().optional().describe('As recorded.'),
          to: z.json().optional().describe('As replayed.'),
        }),
      )
      .describe('`from` is as recorded, `to` as replayed; empty where they are the same.'),
    timings: runTimings.pick({ parseMs: true, evaluateMs: true }).describe('Of the replay.'),
  })
  .meta({ id: 'Replay' });
export type Replay = z.infer<typeof replay>;

/** So many snapshots are judged by one backtest at most. */
export const mostBacktested = 2_000;

/** Asks what other code, or another policy, would have decided on the recorded runs of a task (`run.backtest`). */
export const backtestQuery = z.object({
  taskId: idSchema('ntf'),
  candidate: z.object({
    evaluationFunction: z.string(),
    codeForm: z.enum(codeForms),
    policy,
  }),
  /** Of runs that ended then. */
  from: storedTimestamp.nullable(),
  to: storedTimestamp.nullable(),
  /** The newest so many snapshots of that time. */
  limit: z.int().min(1).max(mostBacktested),
});
export type BacktestQuery = z.infer<typeof backtestQuery>;

export const backtest = z
  .object({
    snapshots: z
      .array(
        z.object({
          snapshotId: idSchema('snp').describe('The page.'),
          executionId: idSchema('exe').describe(
            'The run that counts: the one that would notify or did, else the last one.',
          ),
          at: storedTimestamp.describe('When that run ended.'),
          runs: z.int().min(1).describe('Runs that saw this page.'),
          outcome: z.boolean().nullable().describe('What the candidate answered.'),
          value: z.json().describe('*The* value that the code reported, where it is short; else null.'),
          error: runError.nullable().describe('Why the candidate failed.'),
          decision: decision.describe('What the candidate would have decided.'),
          recorded: z
            .object({
              outcome: z.boolean().nullable().describe('What the task found.'),
              decision: decision.describe('What was decided of it.'),
            })
            .describe('What was found and decided then.'),
        }),
      )
      .describe('Oldest first.'),
    summary: z
      .object({
        snapshots: z.int().describe('Pages that were judged.'),
        wouldNotify: z.int().describe('Runs on these pages of which the candidate would notify.'),
        didNotify: z.int().describe('Runs on these pages of which the task did.'),
        onlyNew: z.int().describe('Runs of which the candidate would notify, and the task did not.'),
        onlyOld: z.int().describe('Runs of which the task did, and the candidate would not.'),
        complete: z.boolean().describe('False where the time of one request was over before the last snapshot.'),
      })
      .describe('In figures.'),
  })
  .meta({ id: 'Backtest' });
export type Backtest = z.infer<typeof backtest>;
