/** Judges an installation by its events, its views and what the receivers saw, and by nothing that it says of itself. */
import type { RecordedEvent } from '#event-store/event-store';
import type { AnyView, ReadStore } from '#read-store/read-store';
import { keptViews } from '../../services/host/projections.js';
import {
  brokenStreams,
  uncoveredSlots,
  unansweredRuns,
  unplannedRuns,
  wrongArrivals,
  wrongDecisions,
} from '../e2e/kit/invariants.js';
import type { World } from '../e2e/kit/watch.js';
import type { Load } from './load.js';

export interface Verdict {
  /** `I1` … and what it is about. */
  readonly invariant: string;
  /** A sentence each; none is good. */
  readonly violations: readonly string[];
}

const pageSize = 500;

async function documentsOf(readStore: ReadStore, view: AnyView): Promise<Set<string>> {
  const found = new Set<string>();
  for (let offset = 0; ; offset += pageSize) {
    const query = { where: [], sort: [], limit: pageSize, offset, count: false };
    const { documents } = await readStore.page(view, query);
    for (const document of documents) found.add(JSON.stringify(document));
    if (documents.length < pageSize) return found;
  }
}

/** A view may have been stopped in the middle of what came last; what it had not seen before that, it will never see. */
const mostBehindMs = 10_000;

/** Each view against a replay of the events that it has seen, document by document; and whether it has seen those before the end. */
async function viewsUnlikeTheirReplay(readStore: ReadStore, events: readonly RecordedEvent[]): Promise<string[]> {
  const found: string[] = [];
  const endMs = Math.max(...events.map(({ metadata }) => Date.parse(metadata.at)));
  for (const { name, view, replay, isFedBy } of keptViews) {
    const seen = (await readStore.checkpoint(view)) ?? -1;
    const unseen = events.find(({ position, stream }) => position > seen && isFedBy(stream));
    const behindMs = unseen === undefined ? 0 : endMs - Date.parse(unseen.metadata.at);
    if (behindMs > mostBehindMs)
      found.push(`${name} went no further than position ${seen}, ${behindMs} ms before the end`);
    const live = await documentsOf(readStore, view);
    const replayed = replay(events.filter(({ position }) => position <= seen));
    const made = new Set([...replayed.values()].map((document) => JSON.stringify(document)));
    for (const text of live) if (!made.has(text)) found.push(`${name} holds what no replay gives: ${text}`);
    for (const text of made) if (!live.has(text)) found.push(`${name} lacks what a replay gives: ${text}`);
  }
  return found;
}

function wrongWrites({ asked, created }: Load, events: readonly RecordedEvent[]): string[] {
  const tasks = events.filter(({ type }) => type === 'task.created');
  const ids = new Set(tasks.map(({ stream }) => stream.slice('task-'.length)));
  const names = tasks.map(({ data }) => (data['spec'] as { readonly name: string }).name);
  const times = (key: string): number => names.filter((name) => name === key).length;
  return [
    ...[...created].flatMap(([key, id]) => (ids.has(id) ? [] : [`${key} was answered with ${id}, which is not there`])),
    ...[...asked].flatMap((key) => (times(key) > 1 ? [`${key} was made ${times(key)} times`] : [])),
    ...[...created.keys()].flatMap((key) => (times(key) === 1 ? [] : [`${key} is there ${times(key)} times`])),
  ];
}

export async function judge(
  events: readonly RecordedEvent[],
  readStore: ReadStore,
  world: World,
  load: Load,
): Promise<Verdict[]> {
  const hooks = load.watched.flatMap((_, page) => world.hooks.received(hookPath(load, page)));
  const arrivals = hooks.map(({ id, body }) => ({ id, bytes: body }));
  const mails = world.mails.received.map(({ messageId, raw }) => ({
    id: /^<(\w+)@/.exec(messageId)?.[1] ?? messageId,
    bytes: raw,
  }));
  return [
    {
      invariant: 'I1 every due slot has one result or one range',
      violations: [...uncoveredSlots(events), ...unplannedRuns(events)],
    },
    { invariant: 'I2 no run is recorded twice, none has no result', violations: unansweredRuns(events) },
    { invariant: 'I3 who is told follows from the outcomes', violations: wrongDecisions(events) },
    {
      invariant: 'I4 every notification arrived, repeats alike',
      violations: [...wrongArrivals(events, 'webhook', arrivals), ...wrongArrivals(events, 'email', mails)],
    },
    { invariant: 'I5 each answered write is there, once', violations: wrongWrites(load, events) },
    { invariant: 'I6 revisions without gaps, ids unique', violations: brokenStreams(events) },
    {
      invariant: 'I7, I8 each view equals its replay',
      violations: await viewsUnlikeTheirReplay(readStore, events),
    },
  ];
}

function hookPath({ name }: Load, page: number): string {
  return `/${name}-${page}`;
}
