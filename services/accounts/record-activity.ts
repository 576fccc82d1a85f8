/** Puts on record what somebody did. */
import { activityStream, type ActivityEvent } from '#contracts/activity';
import type { RequestContext } from '#bus/bus';
import { encodeEvents } from '#eventing/codec';
import { metadataOf, type AccountPorts } from './ports.js';

/** Each asking is one more: a caller may send the same request id as often as he likes. */
export async function recordActivity(
  ports: Pick<AccountPorts, 'eventStore' | 'ids' | 'clock'>,
  activity: ActivityEvent,
  { organizationId, ...asking }: RequestContext,
): Promise<number> {
  const id = ports.ids.next('evt');
  const metadata = metadataOf(ports, organizationId, asking);
  const events = encodeEvents([activity], { commandId: id, metadata });
  const appended = await ports.eventStore.append(activityStream(id), events, 'none');
  if (!appended.ok) throw new Error(`${id} was given twice`);
  return appended.position;
}
