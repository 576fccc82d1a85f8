/** Days that are old enough are folded by the running product, whatever kills it meanwhile: nothing is lost, nothing counted twice. */
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
const playedDays = 40;
const tasks = ['one', 'two', 'three'].map((name) => derivedId('ntf', 0, 'retention', name));
const [taskId = ''] = tasks;
/** The first day, long enough ago for a part of them to be folded. */
const startMs = Math.floor(Date.now() / dayMs) * dayMs - 45 * dayMs;

/** Runs each twenty minutes, of which some fail and some change the condition. */
const steps: readonly PlayedStep[] = Array.from({ length: playedDays * 72 }, (_, index) => ({
  kind: 'run',
  afterMs: 20 * minuteMs,
  status: index % 50 === 0 ? 'failed' : 'succeeded',
  outcome: index % 50 === 0 ? null : index % 97 === 0,
  condition: index % 97 === 0 ? 'true' : 'false',
  isFlapping: false,
  notify: index % 97 === 0,
  reason: index % 97 === 0 ? 'became_true' : 'not_true',
  isManual: index % 500 === 0,
  value: index % 211,
  fetchMs: 50 + (index % 300),
  evaluateMs: 1 + (index % 9),
}));

const runSchema = z.looseObject({
  result: z.looseObject({ status: z.string(), runId: z.string() }),
  decision: z.looseObject({ notify: z.boolean() }),
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
  const lastFolded = dayOf(new Date(Date.now() - 31 * dayMs).toISOString());
  const foldedDays = ({ buckets }: z.infer<typeof statistics>['data']) => buckets.filter(({ folded }) => folded).length;
  const daysToFold = (Date.parse(dayStart(lastFolded)) - startMs) / dayMs + 1;

  beforeAll(async () => {
    installation = await createInstallation();
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

  afterAll(() => installation.remove());

  it('is folded once, with every run in it, whatever kills the product in between', async () => {
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
