/** Tasks whose code takes long, beside others that are quick. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createFairSlots } from '#concurrency/fair-slots';
import type { LoadedPage, PageLoader } from '#page-loader/page-loader';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import { defaultSandboxLimits, type EvaluationResult } from '#sandbox/sandbox';
import { createSqliteSnapshots } from '#snapshots/sqlite';
import type { Snapshots } from '#snapshots/snapshots';
import { fetchSettings } from '#contracts/fetch';
import { KnownResults } from './known-results.js';
import { LongEvaluations } from './long-evaluations.js';
import { runOpenedCheck, type CheckResult, type PageDeps } from './run-check.js';

const url = 'https://example.com/';
const page: LoadedPage = {
  ok: true,
  url,
  finalUrl: url,
  status: 200,
  headers: {},
  contentKind: 'html',
  encoding: 'utf-8',
  body: new TextEncoder().encode('<p>7'),
  contentHash: 'sha256:1',
  attempts: 1,
  fetchMs: 2,
};

function took(evaluateMs: number): EvaluationResult {
  const timings = { parseMs: 1, evaluateMs };
  return { ok: true, outcome: true, values: {}, logs: [], state: {}, timings, touched: ['clock'] };
}

const slots = 8;
const longAtOnce = 2;

describe('tasks whose code took long the last time', () => {
  let snapshots: Snapshots;
  let deps: PageDeps;
  /** The code of evaluations that have begun and not ended, and how each ends. */
  let begun: { readonly code: string; readonly end: (result: EvaluationResult) => void }[];
  let runs: number;

  beforeEach(() => {
    begun = [];
    runs = 0;
    snapshots = createSqliteSnapshots(':memory:', { keepCount: 10, keepDays: 30 });
    const pageLoader: PageLoader = {
      async load({ slot }) {
        await slot?.take();
        return page;
      },
      async loadIfChanged({ slot }) {
        await slot?.take();
        return page;
      },
      close: async () => undefined,
    };
    const notUsed = async () => {
      throw new Error('not used here');
    };
    deps = {
      pageLoader,
      sandbox: {
        evaluate: ({ code }) => new Promise((end) => begun.push({ code, end })),
        evaluateAll: notUsed,
        check: notUsed,
        runScript: notUsed,
        close: async () => undefined,
      },
      limits: defaultSandboxLimits,
      snapshots,
      knownResults: new KnownResults(),
      slots: createFairSlots({ slots, shares: { organization: slots, longOfOrganization: slots / 2 } }),
      longEvaluations: new LongEvaluations(longAtOnce),
      clock: { now: () => 0 },
      logger: silentLogger,
    };
  });
  afterEach(() => snapshots.close());

  function check(name: string): Promise<CheckResult> {
    runs += 1;
    const id = String(runs).padStart(26, '0');
    const opened = {
      runId: `exe_${id}`,
      taskId: `ntf_${name}`,
      organizationId: 'org_1',
      taskRevision: 0,
      lastSnapshotId: null,
      lastContentHash: null,
      spec: { url, evaluationFunction: name, codeForm: 'script' as const },
      settings: fetchSettings.parse({}),
      previous: null,
      state: {},
      seed: id,
      nowMs: 0,
      shadow: null,
      session: null,
    };
    return runOpenedCheck(deps, opened, new AbortController().signal);
  }
  async function endOf(name: string, evaluateMs: number): Promise<void> {
    const one = await found(async () => begun.find(({ code }) => code === name) ?? null);
    begun.splice(begun.indexOf(one), 1);
    one.end(took(evaluateMs));
  }
  const names = Array.from({ length: 20 }, (_, n) => `long${n}`);
  async function runAllOnce(evaluateMs: number): Promise<void> {
    const checks = names.map((name) => check(name));
    for (const name of names) await endOf(name, evaluateMs);
    await Promise.all(checks);
  }

  it('leave slots and threads to the others, however many they are', async () => {
    await runAllOnce(500);
    const long = names.map((name) => check(name));
    await found(async () => begun.length === longAtOnce);
    const quick = ['quick0', 'quick1', 'quick2'].map((name) => check(name));
    for (const name of ['quick0', 'quick1', 'quick2']) await endOf(name, 5);
    expect(await Promise.all(quick)).toMatchObject([{ outcome: true }, { outcome: true }, { outcome: true }]);
    expect(begun.map(({ code }) => code)).toEqual(['long0', 'long1']);
    for (const name of names) await endOf(name, 500);
    expect(await Promise.all(long)).toHaveLength(names.length);
  });

  it('are as any other once their code is quick', async () => {
    await runAllOnce(500);
    await runAllOnce(5);
    const checks = names.slice(0, slots).map((name) => check(name));
    await found(async () => begun.length === slots);
    for (const name of names.slice(0, slots)) await endOf(name, 5);
    await Promise.all(checks);
  });

  it('are all run in the end', async () => {
    await runAllOnce(500);
    await runAllOnce(500);
    expect(deps.slots.held).toBe(0);
    expect(deps.slots.waiting).toBe(0);
  });
});
