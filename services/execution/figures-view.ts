/** The view `figures`: what statistics are made of, a document per task and hour, of a folded day one for all of it. */
import { noFigures, withRun, withSlots, type Stretch } from '#contracts/figures';
import { dayStart, figuresView, lastMomentOf, sumId, type FiguresDocument, type FoldEvent } from '#contracts/retention';
import type { RunEvent } from '#contracts/run';
import type { ScheduleEvent } from '#contracts/schedule';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { forgettingPurged } from '#eventing/forget-purged';
import { organizationSums, taskFigures, type Figures } from './organization-figures.js';

type Known = RunEvent | ScheduleEvent | FoldEvent;

const hourOf = (time: string): string => `${time.slice(0, 13)}:00:00.000Z`;

/** Slots count when it was put on record that they have no run. */
function timeOf(recorded: RecordedEvent, event: Known): string | null {
  if (event.type === 'run.recorded') return event.data.result.finishedAt;
  return event.type === 'slots.skipped' ? recorded.metadata.at : null;
}

const counted: readonly string[] = ['run.recorded', 'slots.skipped', 'runs.folded'];

function idOf(recorded: RecordedEvent): string | null {
  if (!counted.includes(recorded.type)) return null;
  const event = decodeEvent<Known>(recorded);
  const taskId = recorded.stream.slice(recorded.stream.indexOf('-') + 1);
  if (event.type === 'runs.folded') return `${taskId}/${event.data.day}`;
  const time = timeOf(recorded, event);
  return time === null ? null : `${taskId}/${time.slice(0, 13)}`;
}

const hours = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));

/** The hours that the fold of their day takes the place of: the task's own, and those of the organisation. */
function removes(recorded: RecordedEvent): readonly string[] {
  if (recorded.type !== 'runs.folded') return [];
  const { taskId, day } = decodeEvent<FoldEvent>(recorded).data;
  const { organizationId } = recorded.metadata;
  return hours.flatMap((hour) => [`${taskId}/${day}T${hour}`, sumId(organizationId, 'hour', `${day}T${hour}`)]);
}

function reduce(known: Figures | null, recorded: RecordedEvent): FiguresDocument | null {
  const event = decodeEvent<Known>(recorded);
  const document = taskFigures(known);
  const notificationId = recorded.stream.slice(recorded.stream.indexOf('-') + 1);
  const { organizationId } = recorded.metadata;
  if (event.type === 'runs.folded') {
    const { day, figures, counted: until, percentiles, transitions, transitionsLeftOut } = event.data;
    const id = `${notificationId}/${day}`;
    const folded = { percentiles, transitions, transitionsLeftOut };
    return { id, organizationId, notificationId, from: dayStart(day), hour: null, figures, counted: until, folded };
  }
  const time = timeOf(recorded, event);
  if (time === null) return document;
  const from = hourOf(time);
  const before: Stretch = document ?? { figures: noFigures, counted: null };
  const after =
    event.type === 'run.recorded'
      ? withRun(before, event.data, from)
      : event.type === 'slots.skipped'
        ? { ...before, figures: withSlots(before.figures, event.data.reason, event.data.slots.count) }
        : before;
  return {
    id: `${notificationId}/${time.slice(0, 13)}`,
    organizationId,
    notificationId,
    from,
    hour: from,
    figures: after.figures,
    counted: after.counted,
  };
}

export const figuresProjection = forgettingPurged<Figures>(
  {
    view: figuresView,
    prefixes: ['run-', 'schedule-', 'stats-'],
    idOf,
    reduce,
    removes,
    sums: organizationSums,
    forgets(recorded) {
      if (recorded.type !== 'runs.folded') return [];
      const { taskId, day } = decodeEvent<FoldEvent>(recorded).data;
      const to = lastMomentOf(day);
      return [
        [
          { field: 'notificationId', equals: taskId },
          { field: 'from', to },
          { field: 'hour', to },
        ],
      ];
    },
  },
  'notificationId',
);
