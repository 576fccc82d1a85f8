/** For specs: notifications as the execution service asks for them, a harness to deliver them, and receivers on loopback. */
import { createDocumentState } from '#shared-state/document-state';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { declarationOf } from '#channels/declarations';
import { aNotification, kitTimeMs, type KitNotification } from '#channels/notification.kit';
import { deliveryDocument, type DeliveryDocument, type NotificationRequest } from '#contracts/delivery';
import { tasksView } from '#contracts/task';
import type { OpenedBus, BusMessage } from '#bus/bus';
import type { EventStore } from '#event-store/event-store';
import type { Outbound } from '#outbound/outbound';
import type { LeasedWork } from '#leases/leases';
import { createSoleLeases } from '#leases/sole';
import { startProjection } from '#eventing/projection';
import type { ViewStore } from '#read-store/read-store';
import type { JsonObject } from '#runtime/json';
import { silentLogger } from '#runtime/logger';
import type { Sandbox } from '#sandbox/sandbox';
import { createLinkSigner } from '#vault/link-signer';
import type { Vault } from '#vault/vault';
import type { Mailer } from '#mail/smtp';
import { deliveriesProjection } from './delivery-view.js';
import { acceptRequest, type AcceptOptions } from './consumers.js';
import { defaultReceiverLimits, type ReceiverLimits } from './receivers.js';
import { createMessageBuilder } from './message-builder.js';
import { createPeers } from './peers/peers.js';
import { createSender, type Sender } from './send.js';
import { defaultWorkerLimits, DeliveryWorker, type WorkerLimits, type WorkerOptions } from './worker.js';

export interface KitRequest extends Omit<KitNotification, 'kind'> {
  readonly kind?: NotificationRequest['kind'];
  /** What the request says besides. */
  readonly more?: Partial<NotificationRequest>;
  readonly type?: NotificationRequest['action']['type'];
  readonly config?: JsonObject;
  readonly expireAfterSeconds?: number;
}

export function notificationOf(options: KitRequest = {}): NotificationRequest {
  const { type = 'webhook', config = {}, createdMs = kitTimeMs, expireAfterSeconds = 86_400, more } = options;
  const plain = aNotification(options);
  const { id } = plain.action;
  return {
    ...plain,
    kind: options.kind ?? 'triggered',
    action: { id, type, config, enabled: true, expireAfterSeconds, on: ['triggered'] },
    expiresAt: new Date(createdMs + expireAfterSeconds * 1_000).toISOString(),
    ...more,
  };
}

export interface Parts {
  readonly eventStore: EventStore;
  readonly readStore: ViewStore;
  readonly bus: OpenedBus;
  readonly outbound: Outbound;
  readonly sandbox: Sandbox;
  readonly vault: Vault;
}

export interface WorkerChoice extends Partial<Pick<WorkerOptions, 'sender' | 'eventStore'>> {
  readonly name?: string;
  /** Every other worker is known to be dead. */
  readonly isAlone?: boolean;
  readonly limits?: Partial<Omit<WorkerLimits, 'receivers'>> & { readonly receivers?: Partial<ReceiverLimits> };
}

type Handing = Pick<AcceptOptions, 'beginAtOnce' | 'begin' | 'offer'> & Partial<Pick<AcceptOptions, 'eventStore'>>;

/** The delivery service's parts on one clock that only the spec moves. */
export class DeliveryHarness {
  readonly clock = {
    nowMs: Date.now(),
    now(): number {
      return this.nowMs;
    },
  };
  readonly logged: object[] = [];
  readonly builder = createMessageBuilder(silentLogger);
  /** What links begin with in deliveries that are asked for from now on. */
  linkBase = 'https://meerkat.example';
  readonly #parts: Parts;
  readonly #projection: LeasedWork;
  readonly #workers: DeliveryWorker[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #documents = new Map<string, DeliveryDocument>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#projection = startProjection({
      ...deliveriesProjection,
      eventStore: parts.eventStore,
      readStore: parts.readStore,
      sharedState: createDocumentState(parts.readStore),
      leases: createSoleLeases(),
      logger: silentLogger,
      saved: (writes) => {
        for (const { id, document } of writes) this.#documents.set(id, deliveryDocument.parse(document));
        for (const look of this.#waiting) look();
      },
    });
  }

  sender(mailer: Mailer | null = null): Sender {
    const { vault, sandbox, outbound, readStore } = this.#parts;
    return createSender({
      vault,
      sandbox,
      outbound,
      builder: this.builder,
      tasks: (taskId) => readStore.get(tasksView, taskId),
      signer: createLinkSigner(Buffer.alloc(32, 1)),
      mailer,
      peers: createPeers({ outbound, commands: [] }),
      clock: this.clock,
      linkBase: 'https://settings.example',
      mailFrom: 'watch@example.com',
    });
  }

  worker({ name = `worker${this.#workers.length}`, isAlone = false, ...choice }: WorkerChoice = {}): DeliveryWorker {
    const { eventStore, readStore } = this.#parts;
    const note = (fields: object): void => void this.logged.push(fields);
    const worker = new DeliveryWorker({
      eventStore,
      readStore,
      sender: this.sender(),
      clock: this.clock,
      logger: { debug: note, info: note, warn: note, error: note },
      leases: { ...createSoleLeases(), memberId: name, isLiving: (id) => !isAlone || id === name },
      random: () => 0,
      ...choice,
      limits: {
        ...defaultWorkerLimits,
        ...choice.limits,
        receivers: { ...defaultReceiverLimits, ...choice.limits?.receivers },
      },
    });
    this.#workers.push(worker);
    return worker;
  }

  /** A notification of now with sealed settings; `offer` is called for it as the consumer calls the worker. */
  async ask(options: KitRequest, offer: (id: string, dueMs: number) => void): Promise<string> {
    return this.#accept(await this.requestOf(options), {
      beginAtOnce: async () => false,
      begin: ({ id }, dueMs) => offer(id, dueMs),
      offer,
    });
  }

  /** The same, handed to a worker as the consumer does; `request`: one that came before. */
  async handOver(
    worker: DeliveryWorker,
    request: NotificationRequest,
    eventStore: EventStore = this.#parts.eventStore,
  ): Promise<string> {
    return this.#accept(request, {
      eventStore,
      beginAtOnce: (fresh) => worker.beginAtOnce(fresh),
      begin: (delivery, dueMs) => worker.begin(delivery, dueMs),
      offer: (id, dueMs) => worker.offer(id, dueMs),
    });
  }

  async requestOf(options: KitRequest): Promise<NotificationRequest> {
    const plain = notificationOf({ createdMs: this.clock.nowMs, ...options });
    const { action, taskId } = plain;
    const { sealed } = declarationOf(action.type);
    const config = await this.#parts.vault.seal(taskId, `actions/${action.id}`, action.config, sealed);
    return { ...plain, action: { ...action, config } };
  }

  async #accept(request: NotificationRequest, by: Handing): Promise<string> {
    const message: BusMessage = {
      id: `evt ${request.deliveryId}`,
      type: 'notification.requested',
      key: request.deliveryId,
      data: request,
      metadata: {
        organizationId: request.organizationId,
        actor: 'system:execution',
        requestId: 'req of the run',
        causationId: null,
        at: request.createdAt,
      },
    };
    const address = { baseUrl: async () => this.linkBase };
    await acceptRequest({ eventStore: this.#parts.eventStore, clock: this.clock, address, ...by }, message);
    return request.deliveryId;
  }

  /** The delivery's document once it is as asked for. */
  async until(id: string, isSo: (document: DeliveryDocument) => boolean): Promise<DeliveryDocument> {
    return new Promise((resolve) => {
      const look = (): void => {
        const document = this.#documents.get(id);
        if (document === undefined || !isSo(document)) return;
        this.#waiting.delete(look);
        resolve(document);
      };
      this.#waiting.add(look);
      look();
    });
  }

  async untilState(id: string, ...states: readonly DeliveryDocument['state'][]): Promise<DeliveryDocument> {
    return this.until(id, ({ state }) => states.includes(state));
  }

  document(id: string): DeliveryDocument | undefined {
    return this.#documents.get(id);
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
    await this.#projection.stop();
    await this.builder.close();
    const { eventStore, readStore, bus, outbound, sandbox } = this.#parts;
    await Promise.all([sandbox.close(), outbound.close(), bus.close()]);
    await Promise.all([eventStore.close(), readStore.close()]);
  }
}

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (response: ServerResponse, request: Received) => void;

/** A receiver on loopback: answers each request by the next of `answers`, the last one for ever. */
export class HttpReceiver {
  readonly received: Received[] = [];
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();

  constructor(...answers: Answer[]) {
    this.#server = createServer((message, response) => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk: Buffer) => chunks.push(chunk));
      message.on('end', () => {
        const { method = '', url: path = '', headers } = message;
        const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
        const answer = answers[Math.min(this.received.length, answers.length - 1)];
        this.received.push(request);
        answer?.(response, request);
        for (const look of this.#waiting) look();
      });
    });
  }

  async listen(port = 0): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  async untilReceived(count: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.received.length < count) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export const answerWith =
  (status: number, body = '', headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };
