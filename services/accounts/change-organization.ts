/** Runs one command on an organisation's stream. */
import { runCommand, type CommandOutcome } from '#eventing/run-command';
import {
  organizationDecider,
  organizationStream,
  type Organization,
  type OrganizationCommand,
  type OrganizationEvent,
} from './domain/organization.js';
import { metadataOf, type Asking, type KeyPorts } from './ports.js';

/** Rejects as the decider and the event store do. */
export function changeOrganization(
  ports: KeyPorts,
  organizationId: string,
  command: OrganizationCommand,
  asking: Asking,
): Promise<CommandOutcome<Organization, OrganizationEvent>> {
  return runCommand(ports.eventStore, organizationDecider, {
    stream: organizationStream(organizationId),
    command,
    commandId: ports.ids.next('evt'),
    metadata: metadataOf(ports, organizationId, asking),
    from: 'all',
  });
}
