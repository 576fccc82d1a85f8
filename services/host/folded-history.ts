/** Stored events opened beside a running product: what commands that only look need of them. */
import type { StoredEvent } from '#event-store/event-chain';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { ConfigError, type Config } from '#runtime/config';
import type { JsonObject } from '#runtime/json';
import { silentLogger } from '#runtime/logger';
import { keyRingAt, openerOf, openHistory, type OpenHistory } from './composition.js';
import { knownSecretKey } from './data-folder.js';

export function toRecorded({ data, metadata, mac: _mac, ...event }: StoredEvent): RecordedEvent {
  return {
    ...event,
    data: JSON.parse(data) as JsonObject,
    metadata: JSON.parse(metadata) as RecordedEvent['metadata'],
  };
}

export interface LookedAt extends OpenHistory {
  /** A stream, from the first event that is there. */
  stream(name: string): AsyncGenerator<RecordedEvent>;
  open(events: readonly RecordedEvent[]): Promise<readonly RecordedEvent[]>;
}

/** Rejects with `ConfigError` or `ServerUnreachable`. */
export async function lookAtEvents(config: Config): Promise<LookedAt> {
  const secretKey = knownSecretKey(config);
  if (secretKey === null) throw new ConfigError(['SECRET_KEY: must be set to that of the installation.']);
  const opened = await openHistory(config, silentLogger);
  const { history } = opened;
  async function* stream(name: string): AsyncGenerator<RecordedEvent> {
    for (let revision = (await history.beginning(name))?.revision ?? 0; ; revision += 1) {
      const event = await history.at(name, revision);
      if (event === null) return;
      yield toRecorded(event);
    }
  }
  const readLast = async (name: string): Promise<RecordedEvent | null> => {
    let last: RecordedEvent | null = null;
    for await (const event of stream(name)) last = event;
    return last;
  };
  // Keys stand in short streams, and nothing is appended.
  const reading = { read: stream, readLast } as Pick<EventStore, 'read' | 'readLast'> as EventStore;
  const opener = await openerOf(reading, await keyRingAt(history, secretKey));
  return { ...opened, stream, open: (events) => opener.open(events, true) };
}
