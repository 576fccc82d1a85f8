/** Who stands behind what is asked: a member who is signed in, or who made the key. */
import type { RequestContext } from '#bus/bus';
import type { RecordedEvent } from '#event-store/event-store';
import { decodeEvent } from '#eventing/codec';
import { AppError } from '#runtime/errors';
import { keyStream, type KeyEvent } from './domain/api-key.js';
import { findMember } from './find-member.js';
import type { AccountPorts, KeyPorts } from './ports.js';

/** Keys make keys, and are followed by others: one that goes further back is nobody's. */
const mostMakers = 400;

/** Who made it, or whom it names as who stands behind it; null: nobody known. */
async function makerOf({ eventStore }: Pick<KeyPorts, 'eventStore'>, keyId: string): Promise<string | null> {
  let first: RecordedEvent | null = null;
  for await (const event of eventStore.read(keyStream(keyId))) {
    first = event;
    break;
  }
  const event = first === null ? null : decodeEvent<KeyEvent>(first);
  if (event?.type !== 'key.created') return null;
  const { key, createdBy } = event.data;
  return key.operatorId === undefined ? createdBy : `user:${key.operatorId}`;
}

/** At the beginning of those that made one another: the member; `system`: the setup, and who has the command line. null: nobody known. */
export async function standsBehind(
  ports: Pick<KeyPorts, 'eventStore'>,
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

/**
 * Whom a key with the scope operator names, for who asks for one; null: no member, but the setup or the command line. Rejects with
 * `missing_scope` where it is no operator, by now.
 */
export async function operatorBehind(
  ports: Pick<KeyPorts, 'eventStore'>,
  { actor, organizationId }: Pick<RequestContext, 'actor' | 'organizationId'>,
): Promise<string | null> {
  const who = await standsBehind(ports, actor);
  if (who === 'system') return null;
  const found = who === null ? null : await findMember(ports, organizationId, who.memberId);
  if (found?.member.status === 'active' && found.member.operator) return found.member.id;
  throw new AppError('FORBIDDEN', 'missing_scope', 'Only an operator may have a key with the scope operator.');
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
