/** The execution service: loads pages, runs code, decides. */
import { Module } from '@nestjs/common';
import { ExecutionInbox } from './inbox.js';

@Module({ providers: [ExecutionInbox] })
export class ExecutionModule {}
