/**
 * One check of a task's page that knows the last one: the server is asked only for what changed, the page is kept as it
 * was evaluated, and where neither the page changed nor the code looked at anything else, what it found stands.
 */
import type { FairSlots } from '#concurrency/fair-slots';
import { fetchSettings, type FetchSettings } from '#contracts/fetch';
import type { AlertState } from '#contracts/run';
import type { TaskSpec } from '#contracts/task';
import type { KnownPage, LoadedPage, LoadSlot, PageRequest, Rendering, UnchangedPage } from '#page-loader/page-loader';
import type { Clock } from '#runtime/clock';
import { derivedId } from '#runtime/ids';
import type { JsonObject } from '#runtime/json';
import type { Logger } from '#runtime/logger';
import type { EvaluationJob, EvaluationResult, PreviousRun, Touchable } from '#sandbox/sandbox';
import type { Snapshot, Snapshots } from '#snapshots/snapshots';
import type { Vault } from '#vault/vault';
import {
  evaluated,
  failedLoad,
  falseOnShell,
  refusedIn,
  renderedFlag,
  toPageRequest,
  withShellHint,
  type Evaluated,
  type EvaluationDeps,
} from './page-evaluation.js';
import type { KnownResult, KnownResults, KnownTask } from './known-results.js';
import type { LongEvaluations } from './long-evaluations.js';
import { screenshotIn, type TakenScreenshot } from './screenshots.js';
import type { ShadowCode } from './shadow/shadow.js';

/** What a check takes once its secrets are open. */
export interface PageDeps extends Omit<EvaluationDeps, 'vault'> {
  readonly snapshots: Snapshots;
  readonly knownResults: KnownResults;
  /** Pages that are read and evaluated at once. A check takes its slot once its site begins to send the page. */
  readonly slots: FairSlots<'organization' | 'longOfOrganization'>;
  readonly longEvaluations: LongEvaluations;
  readonly clock: Clock;
  readonly logger: Logger;
}

export type CheckDeps = PageDeps & Pick<EvaluationDeps, 'vault'>;

export interface CheckInput {
  readonly runId: string;
  /** Whose key the secrets are sealed with. */
  readonly taskId: string;
  readonly organizationId: string;
  readonly taskRevision: number;
  /** The page that the last recorded run saw; null where it saw none, or none was recorded. */
  readonly lastSnapshotId: string | null;
  /** Of its content, as that run has it on record. */
  readonly lastContentHash: string | null;
  readonly spec: Pick<TaskSpec, 'url' | 'evaluationFunction' | 'codeForm' | 'fetch'>;
  readonly previous: AlertState['previous'];
  readonly state: JsonObject;
  readonly seed: string;
  readonly nowMs: number;
  /** Other code to run on the same page, after the task's own; null: none. */
  readonly shadow: ShadowCode | null;
  /** What the browser left in the run before, where the task keeps it; null: nothing. */
  readonly session: string | null;
  /** Once aborted, a check that has not begun to load its page rejects. */
  readonly stopping: AbortSignal;
}

/** A check whose secrets are open: all that it takes besides the parts that load and evaluate. */
export type OpenedCheck = Omit<CheckInput, 'spec' | 'stopping'> & {
  readonly spec: Omit<CheckInput['spec'], 'fetch'>;
  readonly settings: FetchSettings;
};

/** `snapshotId`: the page that was evaluated; null where none was loaded, or it could not be kept. */
export type CheckResult = Evaluated & {
  readonly snapshotId: string | null;
  /** What the other code found; null: there is none, or no page was loaded. */
  readonly shadow: Evaluated | null;
  /** What the browser showed at the end; null: none was taken. */
  readonly screenshot: TakenScreenshot | null;
  /** For the next run; null: what was kept is of no use any more. Absent: it stays as it is. */
  readonly session?: string | null;
};

/** A page that stays is saved again after this long, so that what is kept of a task's last days never ages out at once. */
const saveAgainAfterMs = 12 * 3_600_000;
/** So many snapshots are searched for the page of an earlier run. */
const maxListed = 100;

/** What code can see of a page: as loaded now, or as it was kept. */
type SeenPage = Omit<LoadedPage, 'ok' | 'attempts' | 'body'> & { readonly bytes: number };

function leftBy(
  rendering: Rendering | undefined,
  settings: FetchSettings,
): Pick<CheckResult, 'screenshot' | 'session'> {
  const kept = rendering?.session === undefined ? {} : { session: rendering.session };
  return { screenshot: screenshotIn(rendering, settings), ...kept };
}

type Loaded = { readonly seen: SeenPage; readonly body: Uint8Array | null } | { readonly failed: CheckResult };

/** A store that does not answer costs a run its page, never its result. */
async function withFallback<T>(instead: T, work: Promise<T>, logger: Logger, taskId: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    logger.warn({ taskId, error: String(error) }, 'snapshot store failed; the run continues without it');
    return instead;
  }
}

/** RFC 9111, section 3.2: the newer answer's headers stand in place of the kept ones, but for those that speak of a body. */
function mergedHeaders(
  kept: Readonly<Record<string, string>>,
  newer: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const merged: Record<string, string> = { ...kept };
  for (const [name, value] of Object.entries(newer)) {
    if (!/^(?:content-|transfer-encoding$|trailer$)/.test(name)) merged[name] = value;
  }
  return merged;
}

function seenAgain(last: Snapshot, { headers, finalUrl, certificate = null, fetchMs }: UnchangedPage): SeenPage {
  const { url, status, contentKind, encoding, contentHash, bytes } = last;
  const merged = mergedHeaders(last.headers, headers);
  return { url, finalUrl, status, headers: merged, certificate, contentKind, encoding, contentHash, bytes, fetchMs };
}

function seenNow({ body, ...page }: LoadedPage): SeenPage {
  return { ...page, bytes: body.byteLength };
}

function haveSameHeaders(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** The same in all that code sees, headers and certificate aside. */
function isSamePage(last: Snapshot, seen: SeenPage): boolean {
  const { contentHash, finalUrl, status, contentKind } = last;
  return (
    contentHash === seen.contentHash &&
    finalUrl === seen.finalUrl &&
    status === seen.status &&
    contentKind === seen.contentKind
  );
}

const validatorsOf = ({ headers }: Pick<Snapshot, 'headers'>) => ({
  etag: headers['etag'] ?? null,
  lastModified: headers['last-modified'] ?? null,
});

function knownPage(last: Snapshot, task: KnownTask | null): KnownPage {
  const { etag, lastModified } = task?.snapshot.id === last.id ? task.validators : validatorsOf(last);
  return { etag, lastModified, finalUrl: last.finalUrl };
}

async function load(
  { pageLoader }: PageDeps,
  { settings }: Pick<OpenedCheck, 'settings'>,
  request: PageRequest,
  last: Snapshot | null,
  task: KnownTask | null,
): Promise<Loaded> {
  const loaded =
    last === null ? await pageLoader.load(request) : await pageLoader.loadIfChanged(request, knownPage(last, task));
  if (!loaded.ok) {
    const left = leftBy(loaded.rendering, settings);
    return { failed: { ...failedLoad(loaded), snapshotId: null, shadow: null, ...left } };
  }
  if ('unchanged' in loaded) {
    if (last === null) throw new Error('unchanged, but nothing was known');
    return { seen: seenAgain(last, loaded), body: null };
  }
  return { seen: seenNow(loaded), body: loaded.body };
}

/** What no MAC vouches for is what it was where the last run has the very content on record. */
function isVouchedFor(
  { id, contentHash, isUnproven }: Snapshot,
  { lastSnapshotId, lastContentHash }: Pick<CheckInput, 'lastSnapshotId' | 'lastContentHash'>,
): boolean {
  return isUnproven !== true || (id === lastSnapshotId && contentHash === lastContentHash);
}

/** The content of the page that a run of that time saw; null where it is not kept any more. */
export async function previousText(
  snapshots: Snapshots,
  taskId: string,
  at: string,
  mayBeUsed: (snapshot: Snapshot) => boolean = () => true,
): Promise<string | null> {
  const kept = await snapshots.list(taskId, maxListed);
  const snapshot = kept.find((one) => one.takenAt <= at && mayBeUsed(one));
  const page = snapshot === undefined ? null : await snapshots.read(taskId, snapshot.id);
  return page === null ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(page.body);
}

/** What the code finds. The text of the previous page is much and seldom asked for: it is read once the code asks for it. */
async function evaluate(
  { sandbox, snapshots, logger, limits, longEvaluations }: PageDeps,
  input: OpenedCheck,
  seen: SeenPage,
  body: Uint8Array,
  readsPreviousText: boolean,
): Promise<EvaluationResult> {
  const { taskId, spec, previous, state, seed, nowMs } = input;
  const run = async (before: PreviousRun | null): Promise<EvaluationResult> => {
    const { rendering, ...facts } = seen;
    const page: EvaluationJob['page'] = { ...facts, ...renderedFlag(rendering), body };
    const { evaluationFunction: code, codeForm: form } = spec;
    const job: EvaluationJob = { code, form, page, previous: before, state, seed, nowMs, limits };
    const result = await longEvaluations.run(taskId, (isLong) => sandbox.evaluate(job, { isLong }));
    return withShellHint(result, page);
  };
  if (previous === null) return run(null);
  const isFit = (snapshot: Snapshot) => isVouchedFor(snapshot, input);
  const readText = () => withFallback(null, previousText(snapshots, taskId, previous.at, isFit), logger, taskId);
  if (readsPreviousText) return run({ ...previous, text: await readText() });
  const result = await run({ ...previous, text: null });
  if (result.touched?.includes('previous_text') !== true) return result;
  const text = await readText();
  return text === null ? result : run({ ...previous, text });
}

/** Whether the same page gives the same result, given what else the code made use of. */
function dependsOnPageOnly(touched: readonly Touchable[] | undefined): boolean {
  return touched !== undefined && touched.every((what) => what === 'headers');
}

async function keep(
  { snapshots, clock, logger }: PageDeps,
  { taskId, organizationId, taskRevision, runId }: OpenedCheck,
  seen: SeenPage,
  body: Uint8Array,
): Promise<Snapshot | null> {
  const takenMs = clock.now();
  const { url, finalUrl, status, headers, certificate, contentKind, encoding, contentHash, bytes } = seen;
  const proof = certificate === undefined || certificate === null ? {} : { certificate };
  const rendered = renderedFlag(seen.rendering);
  const page = { url, finalUrl, status, headers, ...proof, contentKind, ...rendered, encoding, contentHash, bytes };
  const id = derivedId('snp', takenMs, runId, contentHash);
  const snapshot = { id, organizationId, taskId, taskRevision, takenAt: new Date(takenMs).toISOString(), ...page };
  return withFallback(
    null,
    snapshots.save(snapshot, body).then(() => snapshot),
    logger,
    taskId,
  );
}

/** The known result of the same page, with the times of this run. */
function reusedResult(
  { settings }: Pick<OpenedCheck, 'settings'>,
  seen: SeenPage,
  { outcome, values, logs, hint, snapshotId }: KnownResult,
): CheckResult {
  const { finalUrl, status, bytes, contentHash, fetchMs } = seen;
  return {
    status: 'succeeded',
    outcome,
    values,
    logs,
    error: null,
    page: { finalUrl, status, bytes, contentHash, fromCache: true, ...refusedIn(seen) },
    timings: { fetchMs: Math.round(fetchMs), parseMs: 0, evaluateMs: 0 },
    state: null,
    endedFromOutside: false,
    snapshotId,
    shadow: null,
    ...leftBy(seen.rendering, settings),
    ...(hint !== undefined && { hint }),
  };
}

/** A server may change its tags while the page stays. */
function noteValidators(knownResults: KnownResults, taskId: string, task: KnownTask, seen: SeenPage): void {
  const { etag, lastModified } = validatorsOf(seen);
  const { validators } = task;
  if (etag === validators.etag && lastModified === validators.lastModified) return;
  knownResults.set(taskId, { ...task, validators: { etag, lastModified } });
}

/** The newest page that is kept of the task. Not asked for where the one this process saw last is it: the last recorded run says so. */
async function newestKept(
  { snapshots, logger }: PageDeps,
  input: OpenedCheck,
  task: KnownTask | null,
): Promise<Snapshot | null> {
  const { taskId, lastSnapshotId } = input;
  if (task !== null && task.snapshot.id === lastSnapshotId) return task.snapshot;
  const [newest = null] = await withFallback([], snapshots.list(taskId, 1), logger, taskId);
  return newest !== null && isVouchedFor(newest, input) ? newest : null;
}

/** Settings without secrets, by how they are stored: a view hands out the same ones until they are changed. */
const openSettings = new WeakMap<CheckInput['spec']['fetch'], FetchSettings>();

async function settingsOf(vault: Vault, taskId: string, fetch: CheckInput['spec']['fetch']): Promise<FetchSettings> {
  const known = openSettings.get(fetch);
  if (known !== undefined) return known;
  const open = await vault.open(taskId, 'fetch', fetch);
  const settings = fetchSettings.parse(open);
  // What was sealed is opened each time: only so is a key that was dropped missed.
  if (open === fetch) openSettings.set(fetch, settings);
  return settings;
}

/** Rejects where a secret cannot be opened. */
export async function opened(vault: Vault, { spec, stopping: _stopping, ...check }: CheckInput): Promise<OpenedCheck> {
  const { fetch, ...rest } = spec;
  return { ...check, spec: rest, settings: await settingsOf(vault, check.taskId, fetch) };
}

/** Once `stopping` is aborted, a check that has not begun to load its page rejects. */
export async function runOpenedCheck(deps: PageDeps, input: OpenedCheck, stopping: AbortSignal): Promise<CheckResult> {
  const slot = slotOf(deps, input, stopping);
  try {
    return await check(deps, input, slot, stopping);
  } finally {
    slot.end();
  }
}

/** The slot of one check; `end` gives it back for good, also where it is still waited for. */
function slotOf(
  { slots, longEvaluations }: PageDeps,
  { organizationId, taskId }: OpenedCheck,
  stopping: AbortSignal,
): LoadSlot & { readonly end: () => void } {
  const isLong = longEvaluations.has(taskId);
  const keys = { organization: organizationId, ...(isLong ? { longOfOrganization: organizationId } : {}) };
  let release: (() => void) | null = null;
  let hasEnded = false;
  const giveBack = (): void => {
    release?.();
    release = null;
  };
  return {
    take() {
      release ??= slots.tryAcquire(keys);
      if (release !== null) return null;
      return slots.acquire(keys).then((granted) => {
        if (hasEnded) return granted();
        release = granted;
        stopping.throwIfAborted();
      });
    },
    giveBack,
    end() {
      hasEnded = true;
      giveBack();
    },
  };
}

function withShadowCode(input: OpenedCheck, { previous, state, ...code }: ShadowCode): OpenedCheck {
  return { ...input, spec: { ...input.spec, ...code }, previous, state };
}

async function check(deps: PageDeps, input: OpenedCheck, slot: LoadSlot, stopping: AbortSignal): Promise<CheckResult> {
  const { snapshots, knownResults, clock, logger } = deps;
  const { taskId, spec, taskRevision, settings } = input;
  const request = {
    ...toPageRequest(spec.url, settings, input.organizationId, input.session),
    slot,
    waitSignal: stopping,
  };
  const known = knownResults.get(taskId);
  const newest = await newestKept(deps, input, known);
  // Other settings may ask for another page, and other code finds something else.
  const last = newest?.taskRevision === taskRevision ? newest : null;
  const task = last === null ? null : known;
  let loaded = await load(deps, input, request, last, task);
  if ('failed' in loaded) return loaded.failed;
  const isSame = last !== null && isSamePage(last, loaded.seen);
  const hasSameHeaders = isSame && haveSameHeaders(last.headers, loaded.seen.headers);
  const isRecent = last !== null && clock.now() - Date.parse(last.takenAt) < saveAgainAfterMs;
  const isKnown = input.shadow === null && isSame && isRecent;
  if (isKnown && task?.result?.snapshotId === last.id && (hasSameHeaders || !task.result.readsHeaders)) {
    noteValidators(knownResults, taskId, task, loaded.seen);
    return reusedResult(input, loaded.seen, task.result);
  }
  if (loaded.body === null) {
    const kept = last === null ? null : await withFallback(null, snapshots.read(taskId, last.id), logger, taskId);
    const isIt = kept?.snapshot.contentHash === loaded.seen.contentHash;
    loaded =
      kept !== null && isIt ? { seen: loaded.seen, body: kept.body } : await load(deps, input, request, null, null);
    if ('failed' in loaded) return loaded.failed;
  }
  // A page that was kept takes as much as one that is loaded.
  await slot.take();
  const { seen, body } = loaded;
  if (body === null) throw new Error('a page without content');
  // Another page is kept whatever is found on it. Not before code has read the previous one, whose place it may take.
  const early = task?.readsPreviousText === false && !(isSame && isRecent) ? keep(deps, input, seen, body) : null;
  const evaluating = evaluate(deps, input, seen, body, task?.readsPreviousText ?? false);
  const result = await evaluating;
  // What is written is packed, and waits for others: another page may be read meanwhile.
  if (input.shadow === null) slot.giveBack();
  const readsHeaders = result.touched?.includes('headers') ?? true;
  const readsCertificate = result.touched?.includes('certificate') ?? true;
  const hasSameCertificate = last?.certificate?.fingerprint === seen.certificate?.fingerprint;
  const seesTheSame = (hasSameHeaders || !readsHeaders) && (hasSameCertificate || !readsCertificate);
  const staysKept = isSame && isRecent && seesTheSame;
  const newlyKept = async () => early ?? keep(deps, input, seen, body);
  const snapshot = staysKept ? last : await newlyKept();
  const hint = falseOnShell(result.ok ? result.outcome : null, { ...seen, body });
  if (snapshot === null) knownResults.forget(taskId);
  else {
    const { outcome, values, logs } = result.ok ? result : { outcome: null, values: {}, logs: [] };
    const isReusable = outcome !== null && dependsOnPageOnly(result.touched);
    knownResults.set(taskId, {
      snapshot,
      validators: validatorsOf(seen),
      result: isReusable ? { snapshotId: snapshot.id, readsHeaders, outcome, values, logs: [...logs], ...hint } : null,
      readsPreviousText: result.touched?.includes('previous_text') ?? task?.readsPreviousText ?? false,
    });
  }
  const other =
    input.shadow === null
      ? null
      : evaluated(seen, await evaluate(deps, withShadowCode(input, input.shadow), seen, body, false));
  const left = leftBy(seen.rendering, settings);
  return { ...evaluated(seen, result), ...hint, snapshotId: snapshot?.id ?? null, shadow: other, ...left };
}
