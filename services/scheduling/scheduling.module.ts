/** The scheduling service: when tasks run. */
import { Module } from '@nestjs/common';
import { BUS, type Bus } from '#bus/bus';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE, type Service } from '#eventing/service';
import { LEASES, type Leases } from '#leases/leases';
import { READ_STORE, type ViewStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { LOGGER, type Logger } from '#runtime/logger';
import { createSchedulingService } from './service.js';

@Module({
  providers: [
    {
      provide: SERVICE,
      inject: [BUS, EVENT_STORE, READ_STORE, LEASES, CLOCK, LOGGER],
      useFactory: (
        bus: Bus,
        eventStore: EventStore,
        readStore: ViewStore,
        leases: Leases,
        clock: Clock,
        logger: Logger,
      ): Service => createSchedulingService({ bus, eventStore, readStore, leases, clock, logger }),
    },
    ServiceRunner,
  ],
})
export class SchedulingModule {}
