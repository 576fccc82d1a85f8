import { createFairSlots } from '#concurrency/fair-slots';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { KnownPage, LoadedPage, LoadFailure, PageLoader, UnchangedPage } from '#page-loader/page-loader';
import { unavailable } from '#runtime/errors';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { defaultSandboxLimits, type EvaluationJob } from '#sandbox/sandbox';
import type { Snapshot, Snapshots } from '#snapshots/snapshots';
import { createSqliteSnapshots } from '#snapshots/sqlite';
import { createEventVault } from '#vault/event-vault';
import { hash } from 'node:crypto';
import { opened, runOpenedCheck, type CheckInput, type CheckResult, type CheckDeps } from './run-check.js';
import { KnownResults } from './known-results.js';
import { LongEvaluations } from './long-evaluations.js';

const taskId = 'ntf_00000000000000000000000001';
const organizationId = 'org_00000000000000000000000001';
const url = 'https://example.com/';
const start = Date.parse('2026-11-21T10:00:00.000Z');

function pageOf(text: string, more: Partial<LoadedPage> = {}): LoadedPage {
  const body = new TextEncoder().encode(text);
  return {
    ok: true,
    url,
    finalUrl: url,
    status: 200,
    headers: { 'content-type': 'text/html', etag: '"1"' },
    contentKind: 'html',
    encoding: 'utf-8',
    body,
    contentHash: `sha256:${hash('sha256', body, 'hex')}`,
    attempts: 1,
    fetchMs: 2,
    ...more,
  };
}

const unchanged = (headers: Readonly<Record<string, string>> = {}): UnchangedPage => ({
  ok: true,
  unchanged: true,
  finalUrl: url,
  headers,
  attempts: 1,
  fetchMs: 1,
});

describe('a check of a task', () => {
  const real = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
  const eventStore = createSqliteEventStore(':memory:');
  let snapshots: Snapshots;
  let parts: CheckDeps;
  let clock: { ms: number };
  /** What the site answers, and whether it was asked with a known page. */
  let answer: (known: KnownPage | null) => LoadedPage | UnchangedPage | LoadFailure;
  let asked: (KnownPage | null)[];
  let jobs: EvaluationJob[];
  /** The page that the last check saw, as its recorded run says. */
  let recorded: string | null;
  let recordedHash: string | null;

  beforeEach(() => {
    recorded = null;
    recordedHash = null;
    clock = { ms: start };
    asked = [];
    jobs = [];
    answer = () => pageOf('<p>7');
    snapshots = createSqliteSnapshots(':memory:', { keepCount: 10, keepDays: 30 });
    const pageLoader: PageLoader = {
      async load() {
        asked.push(null);
        const page = answer(null);
        if (page.ok && 'unchanged' in page) throw new Error('the spec answers 304 to a plain load');
        return page;
      },
      async loadIfChanged(_request, known) {
        asked.push(known);
        return answer(known);
      },
      close: async () => undefined,
    };
    parts = {
      pageLoader,
      sandbox: {
        ...real,
        evaluate(job) {
          jobs.push(job);
          return real.evaluate(job);
        },
      },
      vault: createEventVault(eventStore, Buffer.alloc(32, 1)),
      limits: { ...defaultSandboxLimits, cpuMs: 300 },
      snapshots,
      knownResults: new KnownResults(),
      slots: createFairSlots({ slots: 8, shares: { organization: 8, longOfOrganization: 8 } }),
      longEvaluations: new LongEvaluations(8),
      clock: { now: () => clock.ms },
      logger: silentLogger,
    };
  });
  afterEach(() => snapshots.close());
  afterAll(async () => {
    await real.close();
    await eventStore.close();
  });

  let runs = 0;
  async function check(code = 'document.querySelector("p").textContent === "7"', more: Partial<CheckInput> = {}) {
    runs += 1;
    clock.ms += 1_000;
    const input: CheckInput = {
      runId: `exe_${String(runs).padStart(26, '0')}`,
      taskId,
      organizationId,
      taskRevision: 0,
      spec: { url, evaluationFunction: code, codeForm: 'script', fetch: {} },
      lastSnapshotId: recorded,
      lastContentHash: recordedHash,
      previous: null,
      state: {},
      seed: `exe_${runs}`,
      nowMs: clock.ms,
      shadow: null,
      session: null,
      stopping: new AbortController().signal,
      ...more,
    };
    const checked = await runOpenedCheck(parts, await opened(parts.vault, input), input.stopping);
    recorded = checked.snapshotId;
    return checked;
  }
  const kept = async (checked: CheckResult): Promise<string | null> => {
    const page = checked.snapshotId === null ? null : await snapshots.read(taskId, checked.snapshotId);
    return page === null ? null : Buffer.from(page.body).toString();
  };

  it('stores the page as it was evaluated', async () => {
    const checked = await check();
    expect(checked).toMatchObject({ status: 'succeeded', outcome: true, page: { fromCache: false, bytes: 4 } });
    expect(await kept(checked)).toBe('<p>7');
    expect(await snapshots.list(taskId, 1)).toMatchObject([{ organizationId, url, status: 200, taskRevision: 0 }]);
  });

  it('asks only for changes, and repeats its findings where there are none', async () => {
    const first = await check('page.report("n", 7); console.log("seen"); true');
    answer = () => unchanged();
    const second = await check('page.report("n", 7); console.log("seen"); true');
    expect(asked).toEqual([null, { etag: '"1"', lastModified: null, finalUrl: url }]);
    expect(jobs.length).toBe(1);
    expect(second).toMatchObject({
      status: 'succeeded',
      outcome: true,
      values: { n: 7 },
      logs: [{ message: 'seen' }],
      page: { fromCache: true, bytes: 4, status: 200, contentHash: first.page?.contentHash },
      timings: { parseMs: 0, evaluateMs: 0 },
      snapshotId: first.snapshotId,
    });
  });

  it('recognises an unchanged page by its content where the server does not', async () => {
    const first = await check();
    answer = () => pageOf('<p>7', { headers: { date: 'later' } });
    expect(await check()).toMatchObject({ page: { fromCache: true }, snapshotId: first.snapshotId });
    answer = () => pageOf('<p>8');
    const third = await check();
    expect(third).toMatchObject({ outcome: false, page: { fromCache: false } });
    expect([await kept(first), await kept(third)]).toEqual(['<p>7', '<p>8']);
  });

  it.each([
    ['page.state.n = 1; true'],
    ['page.previous === null'],
    ['Date.now() > 0'],
    ['Math.random() < 1'],
    ['JSON.stringify(page) !== ""'],
  ])('evaluates code again that reads more than the page: %s', async (code) => {
    const first = await check(code);
    answer = () => unchanged();
    const second = await check(code);
    expect([second.status, second.page?.fromCache, jobs.length]).toEqual(['succeeded', false, 2]);
    // The same page, so the same one is named.
    expect(second.snapshotId).toBe(first.snapshotId);
    expect(Buffer.from(jobs[1]?.page.body ?? []).toString()).toBe('<p>7');
  });

  it('evaluates code again that reads headers where they differ, and stores both pages', async () => {
    const code = 'page.headers.date === undefined';
    const first = await check(code);
    answer = () => unchanged();
    expect(await check(code)).toMatchObject({ page: { fromCache: true } });
    answer = () => unchanged({ date: 'today', 'content-length': '0' });
    const third = await check(code);
    expect(third).toMatchObject({ outcome: false, page: { fromCache: false } });
    expect(third.snapshotId).not.toBe(first.snapshotId);
    const [newest] = await snapshots.list(taskId, 1);
    expect(newest?.headers).toEqual({ 'content-type': 'text/html', etag: '"1"', date: 'today' });
  });

  it.each([
    ['another final address', { finalUrl: 'https://example.com/b' }],
    ['another status', { status: 203 }],
    ['another kind', { contentKind: 'text' as const }],
  ])('evaluates the same content again with %s', async (_, more) => {
    await check();
    answer = () => pageOf('<p>7', more);
    expect((await check()).page?.fromCache).toBe(false);
    expect((await snapshots.list(taskId, 9)).length).toBe(2);
  });

  it('evaluates code again that failed', async () => {
    await check('throw new Error("no")');
    answer = () => unchanged();
    expect(await check('throw new Error("no")')).toMatchObject({ status: 'failed', page: { fromCache: false } });
    expect(jobs.length).toBe(2);
  });

  it('asks for the whole page after the settings changed, and evaluates it', async () => {
    await check();
    const checked = await check(undefined, { taskRevision: 1 });
    expect(asked).toEqual([null, null]);
    expect(checked.page?.fromCache).toBe(false);
  });

  it('asks with the newest tag where it changes and the page does not', async () => {
    await check();
    answer = () => pageOf('<p>7', { headers: { etag: '"2"' } });
    await check();
    await check('Date.now() > 0');
    await check();
    expect(asked.map((known) => known?.etag)).toEqual([undefined, '"1"', '"2"', '"2"']);
  });

  it('finds its pages after a start, and evaluates once', async () => {
    const first = await check();
    parts = { ...parts, knownResults: new KnownResults() };
    answer = () => unchanged();
    expect(await check()).toMatchObject({ outcome: true, page: { fromCache: false }, snapshotId: first.snapshotId });
    expect(await check()).toMatchObject({ outcome: true, page: { fromCache: true } });
    expect(jobs.length).toBe(2);
  });

  it('looks for the newest page only where another process made the last run', async () => {
    let lists = 0;
    const list: Snapshots['list'] = (...asking) => {
      lists += 1;
      return snapshots.list(...asking);
    };
    const own = { ...parts, snapshots: { ...snapshots, list, save: snapshots.save.bind(snapshots) } };
    const other = { ...parts, knownResults: new KnownResults() };
    parts = own;
    await check();
    expect(lists).toBe(1);
    answer = () => pageOf('<p>8', { headers: { etag: '"2"' } });
    await check();
    expect(lists).toBe(1);
    parts = other;
    answer = () => pageOf('<p>9', { headers: { etag: '"3"' } });
    const theirs = await check();
    parts = own;
    answer = (known) => (known?.etag === '"3"' ? unchanged() : pageOf('<p>wrong'));
    expect(await check()).toMatchObject({ outcome: false, snapshotId: theirs.snapshotId });
    expect(lists).toBe(2);
  });

  it('stores a changed page while it is evaluated', async () => {
    await check();
    answer = () => pageOf('<p>8');
    const order: string[] = [];
    parts = {
      ...parts,
      sandbox: {
        ...parts.sandbox,
        async evaluate(job) {
          const result = await real.evaluate(job);
          order.push('evaluated');
          return result;
        },
      },
      snapshots: {
        ...snapshots,
        save(snapshot, body) {
          order.push('kept');
          return snapshots.save(snapshot, body);
        },
      },
    };
    const checked = await check();
    expect(order).toEqual(['kept', 'evaluated']);
    expect(await kept(checked)).toBe('<p>8');
  });

  it('holds no slot while its page waits to be written', async () => {
    const written = Promise.withResolvers<void>();
    const { save } = snapshots;
    parts = {
      ...parts,
      snapshots: {
        ...snapshots,
        async save(snapshot, body) {
          await written.promise;
          return save(snapshot, body);
        },
      },
    };
    const checking = check();
    await found(async () => jobs.length === 1 && parts.slots.held === 0);
    written.resolve();
    expect(await checking).toMatchObject({ status: 'succeeded', outcome: true });
  });

  it('asks for the whole page where the stored one is damaged', async () => {
    await check('Date.now() > 0');
    parts = { ...parts, snapshots: { ...snapshots, read: async () => null } };
    answer = (known) => (known === null ? pageOf('<p>7') : unchanged());
    expect(await check('Date.now() > 0')).toMatchObject({ outcome: true });
    expect(asked.length).toBe(3);
  });

  describe('where a page was kept before pages had MACs', () => {
    const withoutMac = (forge: (snapshot: Snapshot) => Snapshot = (one) => one): Snapshots => ({
      ...snapshots,
      list: async (...asking) => (await snapshots.list(...asking)).map((one) => ({ ...forge(one), isUnproven: true })),
    });
    const readPrevious = 'page.report("before", page.previous?.text ?? null); true';
    const before = () => ({ outcome: true, values: {}, at: new Date(clock.ms).toISOString() });

    it('uses it where it is the one that the last run has on record', async () => {
      const first = await check(readPrevious);
      recordedHash = first.page?.contentHash ?? null;
      parts = { ...parts, knownResults: new KnownResults(), snapshots: withoutMac() };
      answer = (known) => (known?.etag === '"1"' ? unchanged() : pageOf('<p>asked without'));
      const again = await check(readPrevious, { previous: before() });
      expect(again).toMatchObject({ values: { before: '<p>7' } });
      expect(asked.at(-1)).toMatchObject({ etag: '"1"' });
    });

    it('asks for the whole page, without a previous text, where the record has another content', async () => {
      const first = await check(readPrevious);
      recordedHash = first.page?.contentHash ?? null;
      const forged = { contentHash: `sha256:${'0'.repeat(64)}` };
      parts = { ...parts, knownResults: new KnownResults(), snapshots: withoutMac((one) => ({ ...one, ...forged })) };
      const again = await check(readPrevious, { previous: before() });
      expect(again).toMatchObject({ values: { before: null } });
      expect(asked.at(-1)).toBeNull();
    });
  });

  it('stores a page again before the old one expires', async () => {
    const first = await check();
    clock.ms += 12 * 3_600_000;
    answer = () => unchanged();
    const second = await check();
    expect(second).toMatchObject({ outcome: true, page: { fromCache: false } });
    expect(second.snapshotId).not.toBe(first.snapshotId);
    expect(await kept(second)).toBe('<p>7');
  });

  it('succeeds where the store of pages fails', async () => {
    const broken = async (): Promise<never> => {
      throw unavailable('snapshots_unavailable', 'down');
    };
    parts = { ...parts, snapshots: { ...snapshots, save: broken, list: broken, read: broken } };
    expect(await check()).toMatchObject({ status: 'succeeded', outcome: true, snapshotId: null });
    expect(await check()).toMatchObject({ status: 'succeeded', outcome: true, snapshotId: null });
  });

  it('stores nothing of a page that could not be loaded', async () => {
    answer = () => ({
      ok: false,
      reason: 'http_status',
      message: 'no',
      status: 404,
      finalUrl: url,
      attempts: 1,
      fetchMs: 1,
    });
    expect(await check()).toMatchObject({ status: 'failed', snapshotId: null, error: { reason: 'http_status' } });
    expect(await snapshots.list(taskId, 9)).toEqual([]);
  });

  describe('with a previous run', () => {
    const code = 'page.report("before", page.previous.text); true';

    it('hands over the text of its page where the code asks for it', async () => {
      await check();
      const previous = { outcome: true, values: {}, at: new Date(clock.ms).toISOString() };
      answer = () => pageOf('<p>8');
      expect(await check(code, { previous })).toMatchObject({ values: { before: '<p>7' } });
      expect(jobs.map((job) => job.previous?.text)).toEqual([undefined, null, '<p>7']);
      answer = () => pageOf('<p>9');
      const later = { ...previous, at: new Date(clock.ms).toISOString() };
      expect(await check(code, { previous: later })).toMatchObject({ values: { before: '<p>8' } });
      // Known by now: the code is not run without it first.
      expect(jobs.length).toBe(4);
    });

    it('hands over null where that page is deleted, and does not run the code twice for it', async () => {
      const previous = { outcome: true, values: {}, at: '2020-01-01T00:00:00.000Z' };
      expect(await check(code, { previous })).toMatchObject({ values: { before: null } });
      expect(jobs.length).toBe(1);
    });

    it('does not read its page for code that does not ask', async () => {
      await check();
      const previous = { outcome: true, values: { n: 1 }, at: new Date(clock.ms).toISOString() };
      answer = () => pageOf('<p>8');
      expect(await check('page.previous.values.n === 1', { previous })).toMatchObject({ outcome: true });
      expect(jobs.length).toBe(2);
    });
  });
});
