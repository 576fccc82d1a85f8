/** What is still known of a moment whose day was folded: its figures, and what changed until then. */
import { endedRuns } from '#contracts/figures';
import type { Explanation } from '#contracts/explanation';
import { dayOf, figuresView, type FiguresDocument } from '#contracts/retention';
import type { ReadStore } from '#read-store/read-store';

const mostLookedBack = 20;

type Known = Pick<Explanation, 'answer' | 'notified' | 'value' | 'decision'> & {
  readonly deliveryIds: readonly string[];
};

/** The folded days of the task up to that one, the newest first. */
async function foldedDays(readStore: ReadStore, taskId: string, at: string): Promise<readonly FiguresDocument[]> {
  const { documents } = await readStore.page(figuresView, {
    where: [
      { field: 'notificationId', equals: taskId },
      { field: 'from', from: '', to: at },
    ],
    sort: [{ field: 'from', descending: true }],
    limit: mostLookedBack,
    offset: 0,
    count: false,
  });
  return documents.filter(({ folded }) => folded !== undefined);
}

function wordsOf(day: string, document: FiguresDocument | undefined): string {
  if (document === undefined || dayOf(document.from) !== day) return `No run is on record for ${day}.`;
  const { runs, failed } = endedRuns(document.figures);
  const { notified } = document.figures;
  return `On ${day} there were ${runs} runs, ${failed} of which failed; ${notified} made messages.`;
}

export async function explainFolded(readStore: ReadStore, taskId: string, at: string): Promise<Known> {
  const days = await foldedDays(readStore, taskId, at);
  const [newest] = days;
  const last = days
    .flatMap(({ folded }) => (folded?.transitions ?? []).toReversed())
    .find((transition) => transition.at <= at);
  const words = `${wordsOf(dayOf(at), newest)} The runs of that day are kept as figures alone.`;
  if (last === undefined) return { answer: words, notified: false, value: null, decision: null, deliveryIds: [] };
  const { kind, from, to, reason, deliveryIds } = last;
  const message = `The ${kind} changed from ${from} to ${to} at ${last.at} (${reason}).`;
  return {
    answer: `${words} ${message}`,
    notified: deliveryIds.length > 0,
    value: last.value,
    decision: { notify: deliveryIds.length > 0, reason, transition: { kind, from, to }, message },
    deliveryIds,
  };
}
