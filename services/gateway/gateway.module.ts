/** The gateway: the HTTP API, its document, and the few pages that people see before the console. */
import { Module } from '@nestjs/common';
import { ServiceRunner } from '#eventing/run-service';
import { SERVICE } from '#eventing/service';
import { SERVICE_PORTS, ServicePortsModule } from '#eventing/service-ports';
import { HttpModule } from '#http/http.module';
import { KeysController, SessionsController } from './accounts.controller.js';
import { AcknowledgeController } from './acknowledge.controller.js';
import { Acknowledger } from './acknowledger.js';
import { ActionTypesController } from './action-types.controller.js';
import { ActionsController } from './actions.controller.js';
import { ActionSaver } from './actions.saver.js';
import { TestMessenger } from './actions.test-message.js';
import { BulkController } from './bulk.controller.js';
import { BulkWork } from './bulk.work.js';
import { AuditController } from './audit/controller.js';
import { ContactSaver } from './contacts.saver.js';
import { ContactsController } from './contacts.controller.js';
import { DeliveriesController } from './deliveries.controller.js';
import { Activities } from './activities.js';
import { TaskRunner } from './execute-task.js';
import { ExecutionsController } from './executions.controller.js';
import { InstallationMetrics } from './installation-metrics.js';
import { NotificationsController } from './notifications.controller.js';
import { PastTasks } from './notifications.past.js';
import { ProvidersController } from './providers.controller.js';
import { OrganizationsController } from './organizations.controller.js';
import { AccountController, MembersController } from './people.controller.js';
import { UnsubscribeController } from './pages/unsubscribe.controller.js';
import { AcknowledgePagesController } from './pages/acknowledge.controller.js';
import { PagesController } from './pages/controller.js';
import { ConsoleController } from './console/controller.js';
import { ConfigurationApplier } from './configuration/apply.js';
import { JournalWork } from './configuration/carry-out.js';
import { ConfigurationController } from './configuration/controller.js';
import { ApplyJournals } from './configuration/journal.js';
import { createGatewayService } from './configuration/unfinished.js';
import { DependencyTurns } from './dependency-turns.js';
import { CandidateChecker } from './check-candidate.js';
import { PageReach } from './page-reach.js';
import { PagePreviewController } from './page-preview.controller.js';
import { PastController } from './past.controller.js';
import { MessagePreviewer } from './preview-messages.js';
import { ProbesController } from './probes.controller.js';
import { TaskSaver } from './save-task.js';
import { SchedulesController } from './schedules.controller.js';
import { SetupController } from './setup.controller.js';
import { ShadowsController } from './shadows.controller.js';
import { SnapshotsController } from './snapshots.controller.js';
import { StatisticsController } from './statistics/controller.js';
import { StreamController } from './stream/controller.js';
import { LiveChanges } from './stream/live-changes.js';
import { TaskTester } from './test-task.js';

@Module({
  imports: [HttpModule, ServicePortsModule],
  controllers: [
    ActionTypesController,
    ActionsController,
    NotificationsController,
    BulkController,
    SchedulesController,
    ExecutionsController,
    DeliveriesController,
    ContactsController,
    AuditController,
    AcknowledgeController,
    AcknowledgePagesController,
    UnsubscribeController,
    SetupController,
    KeysController,
    SessionsController,
    MembersController,
    AccountController,
    OrganizationsController,
    ProvidersController,
    ProbesController,
    PagesController,
    ConsoleController,
    SnapshotsController,
    PastController,
    PagePreviewController,
    StreamController,
    ConfigurationController,
    ShadowsController,
    StatisticsController,
  ],
  providers: [
    PageReach,
    TaskSaver,
    ActionSaver,
    ContactSaver,
    TestMessenger,
    MessagePreviewer,
    Acknowledger,
    PastTasks,
    BulkWork,
    Activities,
    TaskRunner,
    TaskTester,
    CandidateChecker,
    DependencyTurns,
    ApplyJournals,
    JournalWork,
    ConfigurationApplier,
    LiveChanges,
    InstallationMetrics,
    { provide: SERVICE, inject: [SERVICE_PORTS, ApplyJournals, JournalWork], useFactory: createGatewayService },
    ServiceRunner,
  ],
})
export class GatewayModule {}
