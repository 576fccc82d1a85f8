/**
 * Who adds a dependency looks at all tasks first and writes then: one after the other in an organisation, over all gateways, so
 * that two at once cannot close a cycle that neither has seen.
 */
import { Inject, Injectable } from '@nestjs/common';
import { createKeyedQueue } from '#concurrency/keyed-queue';
import { sleep } from '#concurrency/sleep';
import type { TaskDocument } from '#contracts/task';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { unavailable } from '#runtime/errors';
import { compareAndSet, type Contended } from '#shared-state/compare-and-set';
import { SHARED_STATE, type SharedState, type StateCollection } from '#shared-state/shared-state';
import { addsDependency, checkDependencies, dependentTask, presentTasks } from './check-dependencies.js';

/** A process that died holds the others up for no longer. */
const heldAtMostMs = 30_000;
const waitAtMostMs = 10_000;
const lookMs = 20;
const comeBackSeconds = 2;

export const dependencyTurns: StateCollection<Contended> = { name: 'dependency_turns', indexedBy: 'expiresAtMs' };

@Injectable()
export class DependencyTurns {
  readonly #sharedState: SharedState;
  readonly #clock: Clock;
  readonly #readStore: Pick<ReadStore, 'get'>;
  /** Those of this process need not ask each other. */
  readonly #queue = createKeyedQueue();

  constructor(
    @Inject(SHARED_STATE) sharedState: SharedState,
    @Inject(CLOCK) clock: Clock,
    @Inject(READ_STORE) readStore: Pick<ReadStore, 'get'>,
  ) {
    this.#readStore = readStore;
    this.#sharedState = sharedState;
    this.#clock = clock;
  }

  /** Checks what the task is to depend on and writes it, while nobody else adds a dependency. Throws the first fault. */
  write<T>(dependsOn: readonly string[], task: TaskDocument, write: () => Promise<T>): Promise<T> {
    const before = dependentTask(task);
    const checked = async (): Promise<T> => {
      await checkDependencies(presentTasks(this.#readStore), task.organizationId, dependsOn, before);
      return write();
    };
    return addsDependency(dependsOn, before) ? this.run(task.organizationId, checked) : checked();
  }

  /** Runs `work` while nobody else adds a dependency in the organisation. Rejects with `dependencies_busy`. */
  run<T>(organizationId: string, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(organizationId, async () => {
      const write = await this.#take(organizationId);
      try {
        return await work();
      } finally {
        await this.#giveBack(organizationId, write);
      }
    });
  }

  async #take(organizationId: string): Promise<string> {
    for (let waitedMs = 0; ; waitedMs += lookMs) {
      const nowMs = this.#clock.now();
      const taken = await compareAndSet(this.#sharedState, dependencyTurns, organizationId, (current) =>
        current !== null && current.expiresAtMs > nowMs ? null : { expiresAtMs: nowMs + heldAtMostMs },
      );
      if (taken !== null) return taken.writes?.[0] ?? '';
      if (waitedMs >= waitAtMostMs) {
        const message = 'Dependencies of other notifications are being saved; try again in a moment.';
        throw unavailable('dependencies_busy', message, comeBackSeconds);
      }
      await sleep(lookMs);
    }
  }

  /** Only where it is still held: after its time another process may have taken it. */
  async #giveBack(organizationId: string, write: string): Promise<void> {
    await compareAndSet(this.#sharedState, dependencyTurns, organizationId, (current) =>
      current?.writes?.[0] === write ? { expiresAtMs: 0 } : null,
    );
  }
}
