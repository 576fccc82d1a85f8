/** The tasks service: notification tasks, their history and the view that answers questions about them. */
import { Module } from '@nestjs/common';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE } from '#eventing/service';
import { CONTENT_PURGER } from '#vault/content-eraser';
import { SERVICE_PORTS, ServicePortsModule } from '#eventing/service-ports';
import { ChangeTaskHandler } from './change-task.js';
import { createTasksService } from './service.js';
import { TaskQueryHandler } from './task-query.js';

@Module({
  imports: [ServicePortsModule],
  providers: [
    ChangeTaskHandler,
    TaskQueryHandler,
    { provide: SERVICE, inject: [SERVICE_PORTS, CONTENT_PURGER], useFactory: createTasksService },
    ServiceRunner,
  ],
})
export class TasksModule {}
