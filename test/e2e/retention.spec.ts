/** Days that are old enough are folded by the running product, whatever kills it meanwhile: nothing is lost, nothing counted twice. */
import { once } from 'node:events';
import { watch } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { dayMs, dayOf, dayStart } from '#contracts/retention';
import type { RecordedEvent } from '#event-store/event-store';
import { derivedId } from '#runtime/ids';
import { keptViews, lookedThroughAgain, publications } from '../../services/host/projections.js';
import { playEvents, type PlayedStep } from '../../services/execution/figures.kit.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { until } from './kit/until.js';

const minuteMs = 60_000;
const keepDays = 3;
const playedDays = 6;
const tasks = ['one', 'two'].map((name) => derivedId('ntf', 0, 'retention', name));
const [taskId = ''] = tasks;
/** The first day, long enough ago for a part of them to be folded. */
const startMs = Math.floor(Date.now() / dayMs) * dayMs - (playedDays + 1) * dayMs;

/** Runs each two hours, of which some fail and some change the condition. */
const steps: readonly PlayedStep[] = Array.from({ length: playedDays * 12 }, (_, index) => ({
  kind: 'run',
  afterMs: 120 * minuteMs,
  status: index % 10 === 0 ? 'failed' : 'succeeded',
  outcome: index % 10 === 0 ? null : index % 17 === 0,
  condition: index % 17 === 0 ? 'true' : 'false',
  isFlapping: false,
  notify: index % 17 === 0,
  reason: index % 17 === 0 ? 'became_true' : 'not_true',
  isManual: index % 20 === 7,
  value: index % 211,
  fetchMs: 50 + (index % 300),
  evaluateMs: 1 + (index % 9),
}));

const runSchema = z.looseObject({
  result: z.looseObject({ status: z.string(), runId: z.string() }),
  decision: z.looseObject({ notify: z.boolean() }),
  notifications: z.array(z.looseObject({ deliveryId: z.string() })),
});
const bucket = z.looseObject({
  from: z.string(),
  runs: z.int(),
  failed: z.int(),
  notified: z.int(),
  folded: z.boolean(),
});
const statistics = z.object({ data: z.object({ buckets: z.array(bucket), summary: bucket }) });

describe('a day that is old enough', () => {
  let installation: Installation;
  let archive: string;
  let runs: readonly RecordedEvent[];
  /** Of each day: how many ran, failed and made messages. */
  let recorded: (readonly [number, number, number])[];

  const statisticsOf = async (id: string) => {
    const [from, to] = [startMs, startMs + playedDays * dayMs].map((ms) => new Date(ms).toISOString());
    const { body } = await installation.api.send(
      `/api/notifications/${id}/stats?bucket=day&from=${from ?? ''}&to=${to ?? ''}`,
    );
    return statistics.parse(body).data;
  };
  const lastFolded = dayOf(new Date(Date.now() - (keepDays + 1) * dayMs).toISOString());
  const foldedDays = ({ buckets }: z.infer<typeof statistics>['data']) => buckets.filter(({ folded }) => folded).length;
  const daysToFold = (Date.parse(dayStart(lastFolded)) - startMs) / dayMs + 1;
  /** Of the days that are folded those on which there were messages, by their number. */
  const daysOfDeliveries = () =>
    recorded.slice(0, daysToFold).flatMap(([, , notified], day) => (notified > 0 ? [day] : []));

  beforeAll(async () => {
    archive = await mkdtemp(join(tmpdir(), 'meerkat-e2e-archive-'));
    installation = await createInstallation({
      settings: { ARCHIVE_DIR: archive, KEEP_RUNS_DAYS: String(keepDays), KEEP_DELIVERIES_DAYS: String(keepDays) },
    });
    await installation.start();
    await installation.kill('SIGTERM');
    const events = await installation.recordedEvents();
    const organizationId = events.find(({ stream }) => stream.startsWith('org-'))?.metadata.organizationId ?? '';
    const played = tasks.map((id) => playEvents(steps, startMs, { taskId: id, organizationId }).recorded);
    await installation.appendEvents(played.flat());
    // Nothing has been told of them, and nothing will be: as where the views are made anew.
    const views = await installation.openReadStore();
    for (const view of [...keptViews.map((kept) => kept.view), ...publications, ...lookedThroughAgain]) {
      await views.reset(view);
    }
    await views.close();
    runs = played[0]?.filter(({ type }) => type === 'run.recorded') ?? [];
    recorded = Array.from({ length: playedDays }, (_, index) => {
      const day = dayOf(new Date(startMs + index * dayMs).toISOString());
      const ofDay = runs.flatMap(({ metadata, data }) => (dayOf(metadata.at) === day ? [runSchema.parse(data)] : []));
      const failed = ofDay.filter(({ result }) => result.status === 'failed').length;
      return [ofDay.length, failed, ofDay.filter(({ decision }) => decision.notify).length] as const;
    });
  });

  afterAll(async () => {
    await installation.remove();
    await rm(archive, { recursive: true, force: true });
  });

  /** The first file of the archive whose name ends so. */
  async function untilArchived(ending: string): Promise<void> {
    const watcher = watch(archive, { recursive: true });
    try {
      const isThere = async () => (await readdir(archive, { recursive: true })).some((name) => name.endsWith(ending));
      while (!(await isThere())) await once(watcher, 'change');
    } finally {
      watcher.close();
    }
  }

  it('is folded once, with every run in it, whatever kills the product in between', async () => {
    // While the first file is written, and once it is there, of which no fold tells yet.
    for (const ending of ['.part', '.zst']) {
      const reached = untilArchived(ending);
      await Promise.all([installation.start().catch(() => undefined), reached]);
      await installation.kill('SIGKILL');
    }
    for (let kill = 0; kill < 3; kill += 1) {
      await installation.start();
      const already = foldedDays(await statisticsOf(taskId));
      await until('one more day is folded', async () => {
        const now = foldedDays(await statisticsOf(taskId));
        return now > already || now === daysToFold;
      });
      await installation.kill('SIGKILL');
    }
    await installation.start();
    for (const id of tasks) {
      await until('all of them are folded', async () => foldedDays(await statisticsOf(id)) === daysToFold);
      const { buckets, summary } = await statisticsOf(id);
      expect(buckets.map(({ runs: count, failed, notified }) => [count, failed, notified])).toEqual(recorded);
      expect(summary.runs).toBe(recorded.reduce((sum, [count]) => sum + count, 0));
    }
    await until('the deliveries are folded', async () => {
      const { out } = await installation.command(['disk', '--json']);
      const { events } = z
        .object({ events: z.array(z.object({ type: z.string(), count: z.int() })) })
        .parse(JSON.parse(out));
      const folded = events.find(({ type }) => type === 'deliveries.folded')?.count;
      return folded === tasks.length * daysOfDeliveries().length;
    });
  });

  it('answers for its runs with the way to what is left', async () => {
    const [first] = runs;
    const { result } = runSchema.parse(first?.data);
    const reply = await installation.api.send(`/api/executions/${result.runId}`);
    expect([reply.status, reply.body]).toEqual([
      404,
      expect.objectContaining({ error: expect.objectContaining({ reason: 'execution_folded' }) }),
    ]);
    const at = new Date(startMs + 12 * 3_600_000).toISOString();
    const explained = await installation.api.send(`/api/notifications/${taskId}/explain?at=${at}`);
    expect(explained.body).toMatchObject({ data: { folded: true, execution: null } });
    const later = new Date(startMs + (playedDays - 1) * dayMs).toISOString();
    const known = await installation.api.send(`/api/notifications/${taskId}/explain?at=${later}`);
    expect(known.body).toMatchObject({ data: { folded: false, execution: expect.objectContaining({}) } });
  });

  it('answers for its deliveries likewise, of which the events are gone', async () => {
    const requests = runs.flatMap(({ data }) => runSchema.parse(data).notifications);
    const [first, last] = [requests.at(0), requests.at(-1)].map((one) => one?.deliveryId ?? '');
    const reply = await installation.api.send(`/api/deliveries/${first ?? ''}`);
    expect([reply.status, reply.body]).toEqual([
      404,
      expect.objectContaining({ error: expect.objectContaining({ reason: 'delivery_folded' }) }),
    ]);
    expect((await installation.api.send(`/api/deliveries/${last ?? ''}`)).status).toBe(200);
    const resent = await installation.api.send(`/api/deliveries/${first ?? ''}/resend`, { method: 'POST' });
    expect(resent.status).toBe(404);
  });

  it('is in the archive, which fits its record, beside the running product', async () => {
    const intact = await installation.command(['archive', 'verify', '--json']);
    expect(intact.exitCode).toBe(0);
    const days = tasks.length * (daysToFold + daysOfDeliveries().length);
    expect(JSON.parse(intact.out)).toEqual({ days, unarchived: 0, purged: 0, faults: [] });
    // Of which the runs alone are in it.
    const quiet = recorded.findIndex(([, , notified]) => notified === 0);
    const day = dayOf(new Date(startMs + quiet * dayMs).toISOString());
    const read = await installation.command(['archive', 'read', taskId, day]);
    const lines = read.out
      .trim()
      .split('\n')
      .map((line) => z.looseObject({ type: z.string() }).parse(JSON.parse(line)));
    expect(lines.filter(({ type }) => type === 'run.recorded')).toHaveLength(recorded[quiet]?.[0] ?? 0);
    const left = await readdir(archive, { recursive: true });
    expect(left.filter((name) => name.endsWith('.part'))).toEqual([]);
    const file = join(archive, ...day.split('-'), `${taskId}.jsonl.zst`);
    await rm(file);
    const gone = await installation.command(['archive', 'verify', taskId, '--json']);
    expect(gone.exitCode).toBe(1);
    expect(JSON.parse(gone.out)).toMatchObject({ faults: [{ what: 'gone', task: taskId, day }] });
    const none = await installation.command(['archive', 'read', taskId, day]);
    expect([none.exitCode, none.error]).toEqual([1, expect.stringContaining('There is no file')]);
  });

  it('is counted by the command that says what takes the room', async () => {
    const { exitCode, out } = await installation.command(['disk', '--json']);
    expect(exitCode).toBe(0);
    const usage = z
      .object({
        databases: z.array(z.object({ name: z.string(), bytes: z.int() })),
        events: z.array(z.object({ type: z.string(), count: z.int(), bytes: z.int() })),
        tasks: z.array(z.object({ id: z.string(), name: z.string().nullable(), bytes: z.int() })),
        folding: z.object({ nextAt: z.string().nullable(), bytes: z.int() }),
      })
      .parse(JSON.parse(out));
    const countOf = (type: string) => usage.events.find((event) => event.type === type)?.count;
    expect(countOf('runs.folded')).toBe(tasks.length * daysToFold);
    expect(countOf('deliveries.folded')).toBe(tasks.length * daysOfDeliveries().length);
    expect(usage.tasks.map(({ id }) => id).toSorted()).toEqual(tasks.toSorted());
    expect(usage.folding.nextAt).toMatch(/T00:00:00\.000Z$/);
  });

  it('is the same in views that are made anew, and nothing looks changed', async () => {
    const shown = async () => {
      const paths = ['/api/notifications', '/api/executions?limit=100', '/api/stats?bucket=day'];
      const replies = await Promise.all(paths.map((path) => installation.api.send(path)));
      return { texts: replies.map(({ text }) => text), statistics: await statisticsOf(taskId) };
    };
    const live = await shown();
    expect((await installation.command(['rebuild', 'all', '--json'])).exitCode).toBe(0);
    expect(await shown()).toEqual(live);
    expect(await installation.command(['audit', 'verify'])).toMatchObject({ exitCode: 0 });
  });
});
