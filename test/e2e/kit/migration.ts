/** Migrations as an operator runs them, and as machines end them. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewEvent, RecordedEvent } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { meerkat, type EndedCommand } from './command.js';
import { momentsLater, seededRandom, until } from './until.js';

/** Adds events to a stopped installation, over many streams in turn, that no view is made of. */
export async function addHistory(dataDir: string, count: number, streams: number): Promise<void> {
  const secretKey = Buffer.from(await readFile(join(dataDir, 'secret.key'), 'utf8'), 'base64');
  const store = createSqliteEventStore(join(dataDir, 'events.db'), { secretKey });
  const metadata = { organizationId: '', actor: 'system:e2e', requestId: '', causationId: null, at: '' };
  const event = (n: number): NewEvent => ({
    id: randomUUID(),
    type: 'e2e.happened',
    version: 1,
    data: { n, text: 'x'.repeat(200) },
    metadata,
  });
  try {
    for (let first = 0; first < count; first += 10 * streams) {
      const round = Array.from({ length: Math.min(10 * streams, count - first) }, (_, index) => first + index);
      await store.appendInOrder(
        round.map((n) => ({
          stream: `e2e-${n % streams}`,
          events: [event(n)],
          expected: n < streams ? ('none' as const) : Math.floor(n / streams) - 1,
        })),
      );
    }
  } finally {
    await store.close();
  }
}

/** All that must be the same at both sides: everything but the engine's own position. */
export const asStored = (events: readonly RecordedEvent[]): readonly object[] =>
  events.map(({ stream, revision, id, type, version, data, metadata }) => ({
    stream,
    revision,
    id,
    type,
    version,
    data,
    metadata,
  }));

export interface KilledMigration {
  readonly kills: number;
  /** How the run ended that was left alone, or was done before its kill. */
  readonly ended: EndedCommand;
}

/** Resolves when the command is to be killed, or is over. */
export type KillMoment = (ended: Promise<unknown>) => Promise<unknown>;

/** As soon as `isThere`. */
export function asSoonAs(isThere: () => boolean | Promise<boolean>): KillMoment {
  return (ended) => {
    let isOver = false;
    void ended.then(() => (isOver = true));
    return until('something is there', async () => isOver || (await isThere()));
  };
}

/**
 * Runs the same migration again and again, each killed at a moment that the seed decides, and at last to its end. Moments are
 * times, which a fast machine may be done before: where a kill is needed, `firstKill` says when.
 */
export async function migrateThroughKills(
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
  folder: string,
  options: {
    readonly kills: number;
    readonly seed: number;
    readonly longestMs: number;
    readonly firstKill?: KillMoment;
  },
): Promise<KilledMigration> {
  const { kills, seed, longestMs, firstKill } = options;
  const random = seededRandom(seed);
  const command = ['migrate', ...words, '--json'];
  for (let killed = 0; killed < kills; killed += 1) {
    const moment = momentsLater(random() * longestMs);
    const seeded: KillMoment = (ended) => Promise.race([ended, moment]);
    const ended = await meerkat(command, settings, folder, killed === 0 ? (firstKill ?? seeded) : seeded);
    if (ended.exitCode !== null) return { kills: killed, ended };
  }
  return { kills, ended: await meerkat(command, settings, folder) };
}
