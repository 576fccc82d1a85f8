/** Other code on kept pages: some runs ahead, on the guess that it looks at nothing but its page. */
import type { AlertState, BacktestQuery } from '#contracts/run';
import type { EvaluationBatch, EvaluationResult, SandboxLimits, Sandbox } from '#sandbox/sandbox';
import { readPageOfRun, type KeptPage, type Snapshots } from '#snapshots/snapshots';
import { evaluated, type Evaluated } from '../page-evaluation.js';
import type { RunDeps } from '../run.js';
import type { RecordedRun } from './recorded-runs.js';

/** Evaluated at once, and held in memory at once in bytes of their pages. */
export const mostAhead = 32;
const mostBytesAhead = 8_000_000;
/** Pages go to the sandbox together, so many that a thread is done with them in about this time. */
const batchMs = 20;
const mostInBatch = 16;

export interface JudgeDeps {
  readonly sandbox: Sandbox;
  readonly limits: SandboxLimits;
  readonly snapshots: Snapshots;
  readonly slots: RunDeps['slots'];
}

/** What the code finds before it in `page.previous` and `page.state`. */
export type Before = Pick<AlertState, 'previous' | 'state'>;

interface RunOnPage {
  readonly run: RecordedRun;
  readonly page: KeptPage;
}

interface Found {
  readonly page: KeptPage;
  readonly result: EvaluationResult;
}

/** It would have been the same after any other run. */
function standsAlone({ result: { touched } }: Found): boolean {
  return touched !== undefined && !touched.some((what) => ['state', 'previous', 'previous_text'].includes(what));
}

export class Judge {
  readonly #deps: JudgeDeps;
  readonly #candidate: BacktestQuery['candidate'];
  readonly #owner: { readonly taskId: string; readonly organizationId: string };
  /** Of the runs that are next; null: its page is not kept. */
  readonly #guessed = new Map<RecordedRun, Found | null>();
  #looksAtPageOnly = false;
  /** What a page took in the last batch. */
  #eachMs = batchMs;
  /** The page of the run before. */
  #last: KeptPage | null = null;

  constructor(
    deps: JudgeDeps,
    candidate: BacktestQuery['candidate'],
    owner: { readonly taskId: string; readonly organizationId: string },
  ) {
    this.#deps = deps;
    this.#candidate = candidate;
    this.#owner = owner;
  }

  /** What the code finds on the page of the first of these runs, the others come next; null: its page is not kept. */
  async find(upcoming: readonly RecordedRun[], before: Before): Promise<Evaluated | null> {
    const [run] = upcoming;
    if (run === undefined) return null;
    if (!this.#isSure(run)) await this.#evaluateAhead(upcoming, before);
    const found = this.#guessed.get(run) ?? null;
    this.#guessed.delete(run);
    if (found === null) return null;
    this.#looksAtPageOnly = standsAlone(found);
    this.#last = found.page;
    return evaluated({ ...found.page.snapshot, fetchMs: 0 }, found.result);
  }

  #isSure(run: RecordedRun): boolean {
    const found = this.#guessed.get(run);
    return found !== undefined && (found === null || standsAlone(found));
  }

  async #evaluateAhead(upcoming: readonly RecordedRun[], before: Before): Promise<void> {
    const ahead = this.#looksAtPageOnly ? this.#affordable(upcoming) : upcoming.slice(0, 1);
    const open = await this.#withPages(ahead.filter((run) => !this.#isSure(run)));
    const size = Math.min(mostInBatch, Math.max(1, Math.floor(batchMs / this.#eachMs)));
    const batches = Array.from({ length: Math.ceil(open.length / size) }, (_, at) =>
      open.slice(at * size, (at + 1) * size),
    );
    await Promise.all(batches.map((batch) => this.#evaluate(batch, before, null)));
    const [first] = open;
    const found = first === undefined ? undefined : this.#guessed.get(first.run);
    // The text is much and seldom asked for.
    const wantsText = before.previous !== null && found?.result.touched?.includes('previous_text') === true;
    if (first !== undefined && wantsText) await this.#evaluate([first], before, this.#textBefore());
  }

  #affordable(upcoming: readonly RecordedRun[]): readonly RecordedRun[] {
    let bytes = 0;
    const tooMuch = upcoming.findIndex(({ result }, at) => {
      bytes += result.page?.bytes ?? 0;
      return at > 0 && bytes > mostBytesAhead;
    });
    return tooMuch === -1 ? upcoming : upcoming.slice(0, tooMuch);
  }

  async #evaluate(batch: readonly RunOnPage[], { previous, state }: Before, text: string | null): Promise<void> {
    const { sandbox, limits, slots } = this.#deps;
    const { evaluationFunction: code, codeForm: form } = this.#candidate;
    const visits = batch.map(({ run: { result }, page: { snapshot, body } }): EvaluationBatch['visits'][number] => ({
      page: { ...snapshot, body },
      seed: result.seed,
      nowMs: Date.parse(result.startedAt),
    }));
    const shared = { code, form, previous: previous === null ? null : { ...previous, text }, state, limits };
    const release = await slots.acquire({ organization: this.#owner.organizationId });
    try {
      const results = await sandbox.evaluateAll({ ...shared, visits });
      for (const [at, { run, page }] of batch.entries()) {
        const result = results[at];
        if (result !== undefined) this.#guessed.set(run, { page, result });
      }
      const spentMs = results.reduce((sum, { timings }) => sum + timings.parseMs + timings.evaluateMs, 0);
      this.#eachMs = spentMs / batch.length;
    } finally {
      release();
    }
  }

  #textBefore(): string | null {
    return this.#last === null ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.#last.body);
  }

  /** Those whose page is kept. A page that several runs saw is read once. */
  async #withPages(runs: readonly RecordedRun[]): Promise<readonly RunOnPage[]> {
    const pages = new Map<string, Promise<KeptPage | null>>();
    const found = await Promise.all(
      runs.map(async (run) => {
        const { snapshotId, page: seen } = run.result;
        if (snapshotId === null) return { run, page: null };
        const asked = { ...this.#owner, snapshotId, contentHash: seen?.contentHash ?? null };
        const reading = pages.get(snapshotId) ?? readPageOfRun(this.#deps.snapshots, asked);
        pages.set(snapshotId, reading);
        return { run, page: await reading };
      }),
    );
    const kept = found.flatMap(({ run, page }) => (page === null ? [] : [{ run, page }]));
    for (const { run, page } of found) if (page === null) this.#guessed.set(run, null);
    return kept;
  }
}
