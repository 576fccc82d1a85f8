/** How far a task's runs and deliveries are folded. */
import { statsStream, type FoldEvent, type FoldState } from '#contracts/retention';
import { decodeEvent } from '#eventing/codec';
import type { EventStore } from '#event-store/event-store';
import { initial } from '../domain/fold/fold.js';

export async function foldStateOf(eventStore: Pick<EventStore, 'readLast'>, taskId: string): Promise<FoldState> {
  const last = await eventStore.readLast(statsStream(taskId));
  return last === null ? initial : decodeEvent<FoldEvent>(last).data.state;
}
