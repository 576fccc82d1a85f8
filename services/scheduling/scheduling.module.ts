/** The scheduling service: when tasks run. */
import { Module } from '@nestjs/common';
import { SchedulingInbox } from './inbox.js';

@Module({ providers: [SchedulingInbox] })
export class SchedulingModule {}
