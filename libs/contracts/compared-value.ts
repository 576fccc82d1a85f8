/** What the policy `changed` compares: the value that a run reported, or else its outcome. Pure. */
import { derivedEventId } from '#runtime/ids';
import type { Json, JsonObject } from '#runtime/json';
import type { Told } from './message-sentence.js';

/** The state is part of every recorded run: a longer value is only known by its hash. */
const maxLength = 200;

/** Equal values have equal texts, whatever the order of their members. */
function canonical(value: Json): Json {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, canonical(member)]));
}

/** The value called `value`, or else the outcome. A JSON text never begins with `#`, a hash does. */
export function comparedValue({
  values,
  outcome,
}: {
  readonly values: JsonObject;
  readonly outcome: boolean | null;
}): string {
  const { value = outcome } = values;
  const text = JSON.stringify(canonical(value));
  return text.length <= maxLength ? text : `#${derivedEventId('value', text)}`;
}

export function changeBetween(from: string, to: string): Pick<Told, 'change'> {
  return from.startsWith('#') || to.startsWith('#') ? {} : { change: { from, to } };
}
