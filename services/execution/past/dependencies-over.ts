/** Whether tasks that another one depends on were down, asked for times that only grow: each stream is read once. */
import { runStream, type AlertState } from '#contracts/run';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { recordedRunOf } from './recorded-runs.js';

export interface DependenciesOver {
  isDownAt(time: string): Promise<boolean>;
}

function isDown({ condition, flapping, health }: AlertState): boolean {
  return (condition === 'true' && flapping !== true) || health !== 'ok';
}

class Parent {
  readonly #events: AsyncIterator<RecordedEvent>;
  readonly #organizationId: string;
  #next: RecordedEvent | null = null;
  #hasEnded = false;
  #isDown = false;

  constructor(eventStore: Pick<EventStore, 'read'>, taskId: string, organizationId: string) {
    this.#events = eventStore.read(runStream(taskId))[Symbol.asyncIterator]();
    this.#organizationId = organizationId;
  }

  async isDownAt(time: string): Promise<boolean> {
    while (!this.#hasEnded) {
      if (this.#next === null) {
        const step = await this.#events.next();
        if (step.done === true) this.#hasEnded = true;
        else this.#next = step.value;
        continue;
      }
      const { metadata } = this.#next;
      if (metadata.at > time) break;
      const run = metadata.organizationId === this.#organizationId ? recordedRunOf(this.#next) : null;
      if (run !== null) this.#isDown = isDown(run.alert);
      this.#next = null;
    }
    return this.#isDown;
  }
}

export function dependenciesOver(
  eventStore: Pick<EventStore, 'read'>,
  taskIds: readonly string[],
  organizationId: string,
): DependenciesOver {
  const parents = taskIds.map((taskId) => new Parent(eventStore, taskId, organizationId));
  return {
    async isDownAt(time) {
      const found = await Promise.all(parents.map((parent) => parent.isDownAt(time)));
      return found.includes(true);
    },
  };
}
