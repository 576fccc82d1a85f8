/**
 * Where a stream begins, as EventStoreDB keeps it: the property `$tb` in the stream's metadata, which is a stream of its own.
 * Beside it stands what the MAC of the first event left is checked with. The operator's scavenge frees the disk.
 */
import { isJsonObject, type JsonObject } from '#runtime/json';
import { derivedEventId } from '#runtime/ids';
import type { EngineAppend, EngineAnswer } from './eventstoredb-appends.js';
import type { Connection } from './eventstoredb-connection.js';
import { Lost } from './eventstoredb-errors.js';
import { engineStream, macOfEngineEvent } from './eventstoredb-events.js';
import { macOfBeginning, type EventChain, type StreamBeginning } from './event-chain.js';

const metadataStream = (engineName: string): string => `$$${engineName}`;
const metadataType = '$metadata';

interface StreamMetadata {
  /** Of the metadata stream; null: there is none. */
  readonly revision: number | null;
  readonly properties: JsonObject;
}

async function readMetadata(connection: Connection, name: string, milliseconds: number): Promise<StreamMetadata> {
  const [last] = await connection.readPage(metadataStream(name), 'last', 1, milliseconds);
  if (last === undefined) return { revision: null, properties: {} };
  return { revision: Number(last.revision), properties: isJsonObject(last.data) ? last.data : {} };
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** One try. */
export async function readBeginning(
  connection: Connection,
  installation: string,
  stream: string,
  milliseconds: number,
): Promise<StreamBeginning | null> {
  const { properties } = await readMetadata(connection, engineStream(installation, stream), milliseconds);
  const before = properties['$tb'];
  if (typeof before !== 'number' || before <= 0) return null;
  return { stream, revision: before, link: textOrNull(properties['link']), mac: textOrNull(properties['mac']) };
}

export interface TruncationDeps {
  readonly connection: Connection;
  readonly appends: { append(append: EngineAppend, milliseconds: number): Promise<EngineAnswer> };
  readonly installation: string;
  readonly chain: EventChain | null;
}

/** One try; rejects with `Lost` where another process changed the metadata meanwhile, or the answer did. */
export async function truncateStream(
  { connection, appends, installation, chain }: TruncationDeps,
  { stream, before }: { readonly stream: string; readonly before: number },
  milliseconds: number,
): Promise<void> {
  const name = engineStream(installation, stream);
  const [last] = await connection.readPage(name, 'last', 1, milliseconds);
  if (last === undefined) return;
  // The last event stays: it is what the stream goes on from.
  const end = Math.min(before, Number(last.revision));
  const { revision, properties } = await readMetadata(connection, name, milliseconds);
  const known = properties['$tb'];
  if (end <= 0 || (typeof known === 'number' && known >= end)) return;
  const [previous] = await connection.readPage(name, BigInt(end - 1), 1, milliseconds);
  const link = previous === undefined || Number(previous.revision) !== end - 1 ? null : macOfEngineEvent(previous);
  const mac = chain === null ? null : macOfBeginning(chain, { stream, revision: end, link });
  const data = { ...properties, $tb: end, link, mac };
  const event = {
    // The same once more is answered as the first time.
    id: derivedEventId(`${name}|truncated|${revision ?? -1}|${end}`, '0'),
    type: metadataType,
    data: Buffer.from(JSON.stringify(data)),
    metadata: Buffer.from('{}'),
    mac: null,
  };
  const append = { stream: metadataStream(name), events: [event], expected: revision ?? ('none' as const) };
  const answer = await appends.append(append, milliseconds);
  if (!answer.ok) throw new Lost(`the metadata of ${name} were changed by another process`);
}
