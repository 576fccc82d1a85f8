// planted: one-handler-of-a-kind
import { CommandHandler } from '@nestjs/cqrs';
import { ArchiveTask, PauseTask } from './commands.js';

@CommandHandler(PauseTask)
export class PauseTaskHandler {}

@CommandHandler(ArchiveTask)
export class ArchiveTaskHandler {}
