/** The tasks service: notification tasks, their history and the view that answers questions about them. */
import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { ChangeTaskHandler } from './change-task.js';
import { TasksInbox } from './inbox.js';
import { TaskHistoryHandler } from './task-history.js';

@Module({ imports: [CqrsModule], providers: [ChangeTaskHandler, TaskHistoryHandler, TasksInbox] })
export class TasksModule {}
