/** `meerkat disk`: what takes the room, and what folding will give back next, beside a running product or without one. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { foldingState, foldingStateKey } from '#contracts/folding-state';
import { dayOf } from '#contracts/retention';
import { tasksView } from '#contracts/task';
import type { StoredEvent } from '#event-store/event-chain';
import type { Config } from '#runtime/config';
import { silentLogger } from '#runtime/logger';
import type { DiskUsage } from './cli/product.js';
import { deliveriesKeptDays, lastDayToFold } from '../execution/retention/folding.js';
import { openHistory, openReadStore, openSharedState } from './composition.js';

const mostTasks = 20;
const foldedKinds = /^(?:run|schedule|claim)-(?=ntf_)/;
/** With one of these a delivery's stream ends, and the last event stays. */
const endings: ReadonlySet<string> = new Set(['attempt.ended', 'delivery.expired', 'delivery.suppressed']);
/** Of a delivery each event names the task that it is sealed for. */
const taskOf = ({ stream, data }: StoredEvent): string | null =>
  /^(?:task|run|schedule|claim|stats)-(ntf_.+)$/.exec(stream)?.[1] ??
  (stream.startsWith('dlv-') ? (/"owner":"(ntf_[^"]+)"\}$/.exec(data)?.[1] ?? null) : null);

async function databasesIn(folder: string): Promise<DiskUsage['databases']> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /\.db(?:-wal)?$/.test(name));
  const sized = await Promise.all(names.map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size })));
  return sized.toSorted((one, other) => other.bytes - one.bytes);
}

interface Counted {
  count: number;
  bytes: number;
}

function add(to: Map<string, Counted>, name: string, bytes: number): void {
  const known = to.get(name) ?? { count: 0, bytes: 0 };
  to.set(name, { count: known.count + 1, bytes: known.bytes + bytes });
}

const sizeOf = ({ data, metadata, id, type }: StoredEvent): number =>
  Buffer.byteLength(data) + Buffer.byteLength(metadata) + id.length + type.length;

/** Each event is looked at once. Rejects with `ConfigError` or `ServerUnreachable`. */
export async function diskUsage(config: Config): Promise<DiskUsage> {
  const { history, lastPosition, close } = await openHistory(config, silentLogger);
  const readStore = await openReadStore(config, silentLogger);
  try {
    const known = (await openSharedState(readStore).load(foldingState, [foldingStateKey])).get(foldingStateKey);
    const nextAt = config.keepRunsDays === 0 ? null : (known?.value?.nextAt ?? null);
    const lastDayOf = (keepDays: number): string =>
      (nextAt === null ? null : lastDayToFold(Date.parse(nextAt), keepDays)) ?? '';
    const [lastOfRuns, lastOfDeliveries] = [config.keepRunsDays, deliveriesKeptDays(config)].map(lastDayOf);
    const lastFolded = ({ stream, type }: StoredEvent): string => {
      if (foldedKinds.test(stream)) return lastOfRuns ?? '';
      return stream.startsWith('dlv-') && !endings.has(type) ? (lastOfDeliveries ?? '') : '';
    };
    const [types, tasks] = [new Map<string, Counted>(), new Map<string, Counted>()];
    let toFold = 0;
    for await (const stretch of history.read(null, lastPosition ?? -1)) {
      for (const event of stretch) {
        const bytes = sizeOf(event);
        add(types, event.type, bytes);
        const task = taskOf(event);
        if (task !== null) add(tasks, task, bytes);
        const last = lastFolded(event);
        if (last === '') continue;
        const { at } = JSON.parse(event.metadata) as { readonly at: string };
        if (dayOf(at) <= last) toFold += bytes;
      }
    }
    const largest = [...tasks].toSorted(([, one], [, other]) => other.bytes - one.bytes).slice(0, mostTasks);
    const names = await readStore.load(
      tasksView,
      largest.map(([id]) => id),
    );
    return {
      databases: await databasesIn(config.dataDir),
      events: [...types]
        .map(([type, counted]) => ({ type, ...counted }))
        .toSorted((one, other) => other.bytes - one.bytes),
      tasks: largest.map(([id, { bytes }]) => ({ id, name: names.get(id)?.document?.name ?? null, bytes })),
      folding: { nextAt, bytes: toFold },
    };
  } finally {
    await readStore.close();
    await close();
  }
}
