/** Other code on kept pages: some runs ahead, on the guess that it looks at nothing but its page. */
import type { AlertState, BacktestQuery } from '#contracts/run';
import type { SandboxLimits, Sandbox } from '#sandbox/sandbox';
import { readPageOfRun, type KeptPage, type Snapshots } from '#snapshots/snapshots';
import { evaluated, type Evaluated } from '../page-evaluation.js';
import type { RunDeps } from '../run.js';
import type { RecordedRun } from './recorded-runs.js';

/** Evaluated at once, and held in memory at once in bytes of their pages. */
export const mostAhead = 8;
const mostBytesAhead = 8_000_000;

export interface JudgeDeps {
  readonly sandbox: Sandbox;
  readonly limits: SandboxLimits;
  readonly snapshots: Snapshots;
  readonly slots: RunDeps['slots'];
}

/** What the code finds before it in `page.previous` and `page.state`. */
export type Before = Pick<AlertState, 'previous' | 'state'>;

interface Found {
  readonly finding: Evaluated;
  /** It would have been the same after any other run. */
  readonly standsAlone: boolean;
}

export class Judge {
  readonly #deps: JudgeDeps;
  readonly #candidate: BacktestQuery['candidate'];
  readonly #owner: { readonly taskId: string; readonly organizationId: string };
  /** Of the runs that are next. */
  #pages = new Map<string, Promise<KeptPage | null>>();
  #guessed: ReadonlyMap<RecordedRun, Found> = new Map();
  #looksAtPageOnly = false;
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
    this.#forgetPagesBut(upcoming);
    const page = await this.#pageOf(run);
    if (page === null) return null;
    if (this.#guessed.get(run)?.standsAlone !== true) {
      const ahead = this.#looksAtPageOnly ? this.#affordable(upcoming) : [run];
      this.#guessed = await this.#evaluateAll(ahead, before);
    }
    const found = this.#guessed.get(run) ?? null;
    this.#looksAtPageOnly = found?.standsAlone === true;
    this.#last = page;
    return found?.finding ?? null;
  }

  #affordable(upcoming: readonly RecordedRun[]): readonly RecordedRun[] {
    let bytes = 0;
    const tooMuch = upcoming.findIndex(({ result }, at) => {
      bytes += result.page?.bytes ?? 0;
      return at > 0 && bytes > mostBytesAhead;
    });
    return tooMuch === -1 ? upcoming : upcoming.slice(0, tooMuch);
  }

  async #evaluateAll(runs: readonly RecordedRun[], before: Before): Promise<ReadonlyMap<RecordedRun, Found>> {
    const found = await Promise.all(
      runs.map(async (run) => {
        const page = await this.#pageOf(run);
        return page === null ? null : ([run, await this.#evaluate(page, run, before)] as const);
      }),
    );
    return new Map(found.filter((one) => one !== null));
  }

  async #evaluate(page: KeptPage, { result }: RecordedRun, { previous, state }: Before): Promise<Found> {
    const { sandbox, limits, slots } = this.#deps;
    const { evaluationFunction: code, codeForm: form } = this.#candidate;
    const { snapshot, body } = page;
    const run = async (text: string | null) => {
      const release = await slots.acquire({ organization: this.#owner.organizationId });
      try {
        return await sandbox.evaluate({
          code,
          form,
          page: { ...snapshot, body },
          previous: previous === null ? null : { ...previous, text },
          state,
          seed: result.seed,
          nowMs: Date.parse(result.startedAt),
          limits,
        });
      } finally {
        release();
      }
    };
    const first = await run(null);
    // The text is much and seldom asked for.
    const wantsText = previous !== null && first.touched?.includes('previous_text') === true;
    const found = wantsText ? await run(this.#textBefore()) : first;
    const { touched } = found;
    const standsAlone =
      touched !== undefined && !touched.some((what) => ['state', 'previous', 'previous_text'].includes(what));
    return { finding: evaluated({ ...snapshot, fetchMs: 0 }, found), standsAlone };
  }

  #textBefore(): string | null {
    return this.#last === null ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.#last.body);
  }

  #pageOf({ result: { snapshotId, page } }: RecordedRun): Promise<KeptPage | null> {
    if (snapshotId === null) return Promise.resolve(null);
    const reading =
      this.#pages.get(snapshotId) ??
      readPageOfRun(this.#deps.snapshots, { ...this.#owner, snapshotId, contentHash: page?.contentHash ?? null });
    this.#pages.set(snapshotId, reading);
    return reading;
  }

  #forgetPagesBut(upcoming: readonly RecordedRun[]): void {
    const wanted = new Set(upcoming.map(({ result }) => result.snapshotId));
    this.#pages = new Map([...this.#pages].filter(([id]) => wanted.has(id)));
  }
}
