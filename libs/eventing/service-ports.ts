/** What every service is given by its process. */
import { Module, type FactoryProvider, type InjectionToken } from '@nestjs/common';
import { CommandBus, CqrsModule, QueryBus } from '@nestjs/cqrs';
import { BUS, type Bus } from '#bus/bus';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { LEASES, type Leases } from '#leases/leases';
import { READ_STORE, type ViewStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { LOGGER, type Logger } from '#runtime/logger';
import { SHARED_STATE, type SharedState } from '#shared-state/shared-state';

/** `CommandBus` or `QueryBus`: hands a message to the one handler of its class. */
export interface MessageBus {
  execute(message: object): Promise<object>;
}

export interface ServicePorts {
  readonly bus: Bus;
  readonly eventStore: EventStore;
  readonly readStore: ViewStore;
  readonly sharedState: SharedState;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly commands: MessageBus;
  readonly queries: MessageBus;
}

export const SERVICE_PORTS = Symbol('ServicePorts');

const tokens: { readonly [Port in keyof ServicePorts]: InjectionToken } = {
  bus: BUS,
  eventStore: EVENT_STORE,
  readStore: READ_STORE,
  sharedState: SHARED_STATE,
  leases: LEASES,
  clock: CLOCK,
  logger: LOGGER,
  commands: CommandBus,
  queries: QueryBus,
};

const provider: FactoryProvider = {
  provide: SERVICE_PORTS,
  inject: Object.values(tokens),
  useFactory: (...ports: readonly unknown[]) =>
    Object.fromEntries(Object.keys(tokens).map((name, index) => [name, ports[index]])),
};

/** Imported by the module of each service. The buses find the handlers among the providers of all modules. */
@Module({
  imports: [CqrsModule],
  providers: [provider],
  exports: [SERVICE_PORTS],
})
export class ServicePortsModule {}
