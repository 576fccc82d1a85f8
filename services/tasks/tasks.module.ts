/** The tasks service: notification tasks, their history and the view that answers questions about them. */
import { Module } from '@nestjs/common';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE } from '#eventing/service';
import { ServicePortsModule } from '#eventing/service-ports';
import { ChangeTaskHandler } from './change-task.js';
import { tasksService } from './service.js';
import { TaskQueryHandler } from './task-query.js';

@Module({
  imports: [ServicePortsModule],
  providers: [ChangeTaskHandler, TaskQueryHandler, { provide: SERVICE, useValue: tasksService }, ServiceRunner],
})
export class TasksModule {}
