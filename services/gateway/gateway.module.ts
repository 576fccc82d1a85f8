/** The gateway: the HTTP API, its document, and the few pages that people see before the console. */
import { Module } from '@nestjs/common';
import { HttpModule } from '#http/http.module';
import { NotificationsController } from './notifications.controller.js';
import { TaskSaver } from './save-task.js';

@Module({
  imports: [HttpModule],
  controllers: [NotificationsController],
  providers: [TaskSaver],
})
export class GatewayModule {}
