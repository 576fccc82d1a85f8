/** The tasks service: notification tasks, their history and the view that answers questions about them. */
import { Module } from '@nestjs/common';
import { CommandBus, CqrsModule, QueryBus } from '@nestjs/cqrs';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE } from '#eventing/service';
import { ChangeTaskHandler } from './change-task.js';
import { createTasksService } from './service.js';
import { TaskHistoryHandler } from './task-history.js';

@Module({
  imports: [CqrsModule],
  providers: [
    ChangeTaskHandler,
    TaskHistoryHandler,
    { provide: SERVICE, inject: [CommandBus, QueryBus], useFactory: createTasksService },
    ServiceRunner,
  ],
})
export class TasksModule {}
