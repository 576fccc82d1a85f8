/** Liveness, readiness and metrics of a process that holds other services than the gateway. */
import { Module } from '@nestjs/common';
import { HttpModule } from '#http/http.module';
import { ProbesController } from './probes.controller.js';

@Module({ imports: [HttpModule], controllers: [ProbesController] })
export class ProbesModule {}
