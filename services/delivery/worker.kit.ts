/** For specs of the worker: a harness on stores in memory, with receivers on loopback. */
import { createSqliteBus } from '#bus/sqlite';
import type { DeliveryDocument } from '#contracts/delivery';
import type { EventArchive } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createOutbound } from '#outbound/undici';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { createEventVault } from '#vault/event-vault';
import { DeliveryHarness, HttpReceiver, type Answer, type KitRequest, type WorkerChoice } from './delivery.kit.js';
import type { DeliveryWorker } from './worker.js';

export const webhookSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

interface Stage {
  readonly eventStore: EventArchive;
  readonly readStore: ViewStore;
  readonly harness: DeliveryHarness;
}

function build(egressAllow: readonly string[]): Stage {
  const eventStore = createSqliteEventStore(':memory:');
  const readStore = createSqliteReadStore(':memory:');
  const harness = new DeliveryHarness({
    eventStore,
    readStore,
    bus: createSqliteBus(':memory:', silentLogger),
    outbound: createOutbound({ egressAllow, egressProxyUrl: null, userAgent: 'Meerkat' }),
    sandbox: createQuickJsSandbox({ workers: 1, spareWorkers: 0 }),
    vault: createEventVault(eventStore, Buffer.alloc(32, 1)),
  });
  return { eventStore, readStore, harness };
}

export class WorkerKit {
  #stage: Stage = build(['127.0.0.1']);
  readonly #receivers: HttpReceiver[] = [];

  get harness(): DeliveryHarness {
    return this.#stage.harness;
  }

  get readStore(): ViewStore {
    return this.#stage.readStore;
  }

  get eventStore(): EventArchive {
    return this.#stage.eventStore;
  }

  /** A new harness, from which only these addresses are reached. */
  async reaching(egressAllow: readonly string[]): Promise<void> {
    await this.harness.close();
    this.#stage = build(egressAllow);
  }

  async receiver(...answers: Answer[]): Promise<[HttpReceiver, string]> {
    return this.receiverAt(0, ...answers);
  }

  async receiverAt(port: number, ...answers: Answer[]): Promise<[HttpReceiver, string]> {
    const made = new HttpReceiver(...answers);
    this.#receivers.push(made);
    return [made, await made.listen(port)];
  }

  start(choice: WorkerChoice = {}): DeliveryWorker {
    const worker = this.harness.worker(choice);
    worker.start();
    return worker;
  }

  async ask(worker: DeliveryWorker, options: KitRequest): Promise<string> {
    return this.harness.ask(options, (id, dueMs) => worker.offer(id, dueMs));
  }

  /** Moves the clock to when the delivery is due next, and offers it to the worker as its timer would. */
  whenDue(worker: DeliveryWorker, { id, dueAt }: DeliveryDocument): void {
    this.harness.clock.nowMs = Date.parse(dueAt ?? '');
    worker.offer(id, this.harness.clock.nowMs);
  }

  async typesOf(id: string): Promise<string[]> {
    return (await Array.fromAsync(this.eventStore.read(`dlv-${id}`))).map(({ type }) => type);
  }

  async close(): Promise<void> {
    for (const receiver of this.#receivers) await receiver.close();
    await this.harness.close();
  }
}
