import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayMs, figuresView, hourMs } from '#contracts/retention';
import type { RecordedEvent } from '#event-store/event-store';
import { projectBatch } from '#eventing/projected';
import { partsOf } from '#eventing/projection';
import { sumWrites, sumWritesOfPurge, type Step } from '#eventing/sums';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { playedStep, playEvents } from '../execution/figures.kit.js';
import { figuresProjection } from '../execution/figures-view.js';
import type { Figures } from '../execution/organization-figures.js';
import { derivedId } from '#runtime/ids';
import { keptViews } from './projections.js';
import { playedFromMs, withPlayed } from './retention.kit.js';

const kept = keptViews.find(({ name }) => name === figuresView.name);
const { view } = figuresProjection;

function replayed(events: readonly RecordedEvent[]): Record<string, unknown> {
  return Object.fromEntries(
    [...(kept?.replay(events) ?? new Map<string, object>())].toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

async function documentsIn(readStore: ViewStore): Promise<Record<string, unknown>> {
  const query = { where: [], sort: [], limit: 100_000, offset: 0, count: false };
  const { documents } = await readStore.page(view, query);
  return Object.fromEntries(documents.map((document) => [document.id, document]));
}

/** As the projection does: sums first, then what they add up. `isCut`: the process ends between the last two. */
async function project(readStore: ViewStore, events: readonly RecordedEvent[], isCut: boolean): Promise<void> {
  const options = { ...figuresProjection, readStore };
  const parts = partsOf(options, events);
  for (const [index, part] of parts.entries()) {
    const steps: Step<Figures>[] = [];
    const writes = await projectBatch(options, part, (step) => steps.push(step));
    await readStore.save(view, await sumWrites(options, steps), null);
    if (!isCut || index < parts.length - 1) await readStore.save(view, writes, null);
  }
}

const histories = fc.array(playedStep(9 * hourMs), { minLength: 1, maxLength: 25 });

describe('the sums of figures', () => {
  it('are the same however the events are cut into batches, and whatever cuts off a batch', async () => {
    await fc.assert(
      fc.asyncProperty(
        histories,
        fc.array(fc.record({ size: fc.integer({ min: 1, max: 12 }), isCut: fc.boolean() }), {
          minLength: 1,
          maxLength: 30,
        }),
        async (steps, cuts) => {
          await withPlayed(steps, async (played) => {
            played.nowMs += 2 * dayMs;
            await played.fold();
            const { events } = played;
            const readStore = createSqliteReadStore(':memory:');
            try {
              let lastCut = -1;
              for (let start = 0; start < events.length;) {
                const { size, isCut } = cuts[start % cuts.length] ?? { size: 1, isCut: false };
                const cut = isCut && lastCut < start;
                lastCut = start;
                await project(readStore, events.slice(start, start + size), cut);
                if (!cut) start += size;
              }
              const wanted = replayed(events);
              expect(await documentsIn(readStore)).toEqual(wanted);
              await readStore.reset(view);
              const builder = await kept?.build(readStore);
              await builder?.apply(events);
              await builder?.flush(events.at(-1)?.position ?? 0);
              expect(await documentsIn(readStore)).toEqual(wanted);
            } finally {
              await readStore.close();
            }
          });
        },
      ),
      { numRuns: 40 },
    );
  });

  it('of which a purged task is gone are those of the tasks that are left, and of its slots without a run', async () => {
    await fc.assert(
      fc.asyncProperty(histories, histories, async (some, others) => {
        const [one, other] = [some, others].map((steps, index) => {
          const taskId = derivedId('ntf', 0, 'purged', String(index));
          return playEvents(steps, playedFromMs, { taskId, organizationId: 'org_00000000000000000000000001' }).recorded;
        });
        const events = [...(one ?? []), ...(other ?? [])].map((event, index) => ({ ...event, position: index + 1 }));
        const purgedId = derivedId('ntf', 0, 'purged', '0');
        const readStore = createSqliteReadStore(':memory:');
        try {
          await project(readStore, events, false);
          const where = [{ field: 'notificationId', equals: purgedId }];
          const revision = events.length + 1;
          const options = { ...figuresProjection, readStore };
          await readStore.save(view, await sumWritesOfPurge(options, { where, revision }), null);
          await readStore.forget(view, { where, revision });
          // Without contents its runs are not told any more.
          const left = events.filter(({ stream }) => stream !== `run-${purgedId}`);
          const wanted = Object.entries(replayed(left)).filter(([id]) => !id.startsWith(purgedId));
          expect(await documentsIn(readStore)).toEqual(Object.fromEntries(wanted));
        } finally {
          await readStore.close();
        }
      }),
      { numRuns: 40 },
    );
  });
});
