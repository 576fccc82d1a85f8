/** The scheduling service: when tasks run. */
import { Module } from '@nestjs/common';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE } from '#eventing/service';
import { SERVICE_PORTS, ServicePortsModule } from '#eventing/service-ports';
import { ChangeScheduleHandler } from './change-schedule.js';
import { createSchedulingService } from './service.js';

@Module({
  imports: [ServicePortsModule],
  providers: [
    ChangeScheduleHandler,
    { provide: SERVICE, inject: [SERVICE_PORTS], useFactory: createSchedulingService },
    ServiceRunner,
  ],
})
export class SchedulingModule {}
