/** New secrets in place of those that the service makes. */
import { randomBytes } from 'node:crypto';
import { declarationOf, type ActionType } from '#channels/declarations';
import { refuse } from '#http/validation';
import type { JsonObject } from '#runtime/json';

/** Settings with new secrets, and the old ones where `until` says how long they are used. Throws where the type has none. */
export function withRotated(
  type: ActionType,
  config: JsonObject,
  until: string | null,
): { readonly config: JsonObject; readonly made: readonly string[] } {
  const rotated = declarationOf(type).generated.flatMap(({ previous, ...secret }) =>
    previous === undefined ? [] : [{ ...secret, previous }],
  );
  if (rotated.length === 0) {
    throw refuse(
      ['type'],
      'no_secret',
      `is ${type}, which has no secret that the service makes`,
      'secret_not_rotatable',
    );
  }
  const members = new Map(Object.entries(config));
  for (const { name, prefix, bytes, previous } of rotated) {
    const old = members.get(name);
    members.set(name, `${prefix}${randomBytes(bytes).toString('base64')}`);
    members.delete(previous.name);
    members.delete(previous.until);
    if (old !== undefined && until !== null) members.set(previous.name, old).set(previous.until, until);
  }
  return { config: Object.fromEntries(members), made: rotated.map(({ name }) => name) };
}
