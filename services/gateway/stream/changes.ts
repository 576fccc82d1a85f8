/** What an event changes of what lists show. */
import type { RecordedEvent } from '#event-store/event-store';
import { isJsonObject, type Json } from '#runtime/json';

export const streamKinds = ['task', 'execution', 'delivery'] as const;
export type StreamKind = (typeof streamKinds)[number];

export interface Change {
  readonly kind: StreamKind;
  readonly id: string;
}

/** Streams whose events change documents of these kinds. */
export const streamPrefixes = ['task-', 'run-', 'schedule-', 'claim-', 'dlv-'] as const;

function idIn(value: Json | undefined): string | null {
  if (!isJsonObject(value)) return null;
  const { runId } = value;
  return typeof runId === 'string' ? runId : null;
}

/** None where it changes nothing that is shown. Takes the events as they are stored: all of an installation pass here. */
export function changesOf({ stream, data }: RecordedEvent): readonly Change[] {
  const dash = stream.indexOf('-');
  const [prefix, id] = [stream.slice(0, dash), stream.slice(dash + 1)];
  if (prefix === 'dlv') return [{ kind: 'delivery', id }];
  const runId = idIn(data['run']) ?? idIn(data['result']);
  const runs: readonly Change[] = runId === null ? [] : [{ kind: 'execution', id: runId }];
  return prefix === 'claim' ? runs : [{ kind: 'task', id }, ...runs];
}
