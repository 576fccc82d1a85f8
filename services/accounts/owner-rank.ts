/** Who stands behind what is asked: a member who is signed in, or who made the key. */
import type { RequestContext } from '#bus/bus';
import type { RecordedEvent } from '#event-store/event-store';
import { decodeEvent } from '#eventing/codec';
import { keyStream, type KeyEvent } from './domain/api-key.js';
import { findMember } from './find-member.js';
import type { AccountPorts } from './ports.js';

/** Keys make keys, and are followed by others: one that goes further back is nobody's. */
const mostMakers = 400;

/** Who made it; null: nobody known. */
async function makerOf({ eventStore }: Pick<AccountPorts, 'eventStore'>, keyId: string): Promise<string | null> {
  let first: RecordedEvent | null = null;
  for await (const event of eventStore.read(keyStream(keyId))) {
    first = event;
    break;
  }
  const event = first === null ? null : decodeEvent<KeyEvent>(first);
  return event?.type === 'key.created' ? event.data.createdBy : null;
}

/** At the beginning of those that made one another: the member; `system`: the setup, and who has the command line. null: nobody known. */
export async function standsBehind(
  ports: Pick<AccountPorts, 'eventStore'>,
  actor: string,
): Promise<{ readonly memberId: string } | 'system' | null> {
  let maker: string | null = actor;
  for (let step = 0; step < mostMakers && maker !== null; step += 1) {
    const [kind, id = '']: readonly string[] = maker.split(':');
    if (kind === 'system') return 'system';
    if (kind === 'user') return { memberId: id };
    maker = kind === 'key' ? await makerOf(ports, id) : null;
  }
  return null;
}

export async function isByOwner(
  ports: AccountPorts,
  { actor, organizationId }: Pick<RequestContext, 'actor' | 'organizationId'>,
): Promise<boolean> {
  const who = await standsBehind(ports, actor);
  if (who === null || who === 'system') return who === 'system';
  const found = await findMember(ports, organizationId, who.memberId);
  return found?.member.status === 'active' && found.member.role === 'owner';
}
