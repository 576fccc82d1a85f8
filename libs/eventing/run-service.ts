/** Starts a service and drains it again. */
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { RequestHandler } from '#bus/bus';
import { startSweep } from '#leases/sweep';
import { asJson } from '#runtime/json';
import { startProjection } from './projection.js';
import { startPublisher } from './publisher.js';
import { SERVICE, type BackgroundWork, type Responder, type Service } from './service.js';
import { SERVICE_PORTS, type ServicePorts } from './service-ports.js';

const answerOf =
  (responder: Responder, { commands, queries }: ServicePorts): RequestHandler =>
  async (payload, context) =>
    asJson(
      'command' in responder
        ? await commands.execute(responder.command(payload, context))
        : await queries.execute(responder.query(payload, context)),
    );

const stopAll = async (parts: readonly BackgroundWork[]): Promise<void> => {
  await Promise.all(parts.map((part) => part.stop()));
};

/**
 * Followers of the event store first, then background work, then what comes over the bus. `stop` ends them the other way
 * round, so that the views still show what was under way. Rejects, with everything stopped again, where the bus cannot be
 * joined or `ready` rejects.
 */
export async function runService(service: Service, ports: ServicePorts): Promise<BackgroundWork> {
  const { bus, leases, logger } = ports;
  const { name, projections, publication, consumers = [], responders = [], sweeps = [], background = [] } = service;
  const followers = [
    ...projections.map((projection) => startProjection({ ...ports, ...projection })),
    ...(publication === undefined ? [] : [startPublisher({ ...ports, ...publication, name })]),
  ];
  const working: BackgroundWork[] = [
    ...background.map((start) => start()),
    ...sweeps.map((sweep) => startSweep({ ...sweep, leases, logger })),
  ];
  const stop = async (): Promise<void> => {
    await stopAll(working);
    await stopAll(followers);
    await service.closed?.();
  };
  try {
    // At once: each joins a group of its own, which takes its time where others are in it already.
    const joining = await Promise.allSettled([
      ...consumers.map(({ handle, ...options }) => bus.consume(options, handle)),
      ...responders.map((responder) => bus.respond(responder.request, answerOf(responder, ports))),
    ]);
    working.push(...joining.flatMap((joined) => (joined.status === 'fulfilled' ? [joined.value] : [])));
    const failed = joining.find((joined) => joined.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    await service.ready?.();
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

/** Ties the service of its module to the life of the process. The one Nest class with these hooks. */
export class ServiceRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #service: Service;
  readonly #ports: ServicePorts;
  #running: BackgroundWork | null = null;

  constructor(@Inject(SERVICE) service: Service, @Inject(SERVICE_PORTS) ports: ServicePorts) {
    this.#service = service;
    this.#ports = ports;
  }

  async onApplicationBootstrap(): Promise<void> {
    this.#running = await runService(this.#service, this.#ports);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#running?.stop();
  }
}
