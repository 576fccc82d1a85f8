/** Which values of a task's settings are secrets, how they are masked in answers, and how a mask that comes back keeps them. */
import { z } from 'zod';
import { actionTypes, type ActionType } from '#contracts/action';
import { isSecretHeader, secretMask } from '#contracts/common';
import { refuse } from '#http/validation';
import type { Json, JsonObject } from '#runtime/json';
import { isSealed } from '#vault/vault';

/** `['secrets', '*']`: every member of `secrets`. */
type Place = readonly string[];

const jsonSchema = z.looseObject({
  writeOnly: z.boolean().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  additionalProperties: z.unknown().optional(),
});

/** The places that a schema marks `writeOnly`. */
function writeOnlyPlaces(schema: unknown, path: Place = []): readonly Place[] {
  const parsed = jsonSchema.safeParse(schema);
  if (!parsed.success) return [];
  if (parsed.data.writeOnly === true) return [path];
  const members = Object.entries(parsed.data.properties ?? {}).flatMap(([name, member]) =>
    writeOnlyPlaces(member, [...path, name]),
  );
  return [...members, ...writeOnlyPlaces(parsed.data.additionalProperties, [...path, '*'])];
}

/** What is known to be secret in one kind of settings. */
export interface SecretPlaces {
  readonly writeOnly: readonly Place[];
}

function placesOf(schema: z.ZodType): SecretPlaces {
  return { writeOnly: writeOnlyPlaces(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })) };
}

const placesOfActions: Readonly<Record<ActionType, SecretPlaces>> = {
  email: placesOf(actionTypes.email.config),
  webhook: placesOf(actionTypes.webhook.config),
  custom: placesOf(actionTypes.custom.config),
};

export const secretsOfAction = (type: ActionType): SecretPlaces => placesOfActions[type];
/** Of `fetch`: headers by their names, and the proxy's password. */
export const secretsOfFetch: SecretPlaces = { writeOnly: [] };

type Path = readonly (string | number)[];

function isWriteOnly({ writeOnly }: SecretPlaces, path: Path): boolean {
  return writeOnly.some(
    (place) => place.length === path.length && place.every((part, index) => part === '*' || part === path[index]),
  );
}

function isSecretValue(places: SecretPlaces, path: Path): boolean {
  if (isWriteOnly(places, path)) return true;
  const [group, name] = path;
  return path.length === 2 && group === 'headers' && typeof name === 'string' && isSecretHeader(name);
}

function isAddress(path: Path): boolean {
  return path.length === 1 && (path[0] === 'url' || path[0] === 'proxy');
}

function mapLeaves(value: Json, path: Path, visit: (leaf: Json, path: Path) => Json): Json {
  if (isList(value)) return value.map((entry, index) => mapLeaves(entry, [...path, index], visit));
  if (typeof value !== 'object' || value === null || isSealed(value)) return visit(value, path);
  return toObject(Object.entries(value).map(([name, entry]) => [name, mapLeaves(entry, [...path, name], visit)]));
}

function toObject(entries: readonly (readonly [string, Json])[]): JsonObject {
  return Object.fromEntries(entries);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function withPassword(address: string, password: string): string {
  const url = new URL(address);
  url.password = password;
  return url.href;
}

function passwordIn(value: Json | undefined): string {
  return typeof value === 'string' && URL.canParse(value) ? new URL(value).password : '';
}

function mapObject(value: JsonObject, visit: (leaf: Json, path: Path) => Json): JsonObject {
  return toObject(Object.entries(value).map(([name, entry]) => [name, mapLeaves(entry, [name], visit)]));
}

/** Settings as they are answered. `value` is opened: addresses stand in clear, secrets do not. */
export function masked(value: JsonObject, places: SecretPlaces): JsonObject {
  return mapObject(value, (leaf, path) => {
    if (isSealed(leaf)) return secretMask;
    if (isSecretValue(places, path)) return secretMask;
    if (isAddress(path) && typeof leaf === 'string' && passwordIn(leaf) !== '') return withPassword(leaf, secretMask);
    return leaf;
  });
}

/** Anything that may hold sealed values, with the mask in their place (history). */
export function withoutSealed(value: Json): Json {
  return mapLeaves(value, [], (leaf) => (isSealed(leaf) ? secretMask : leaf));
}

function at(value: JsonObject | null, path: Path): Json | undefined {
  let inner: Json | undefined = value ?? undefined;
  for (const part of path) {
    if (isList(inner)) inner = inner[Number(part)];
    else if (isObject(inner) && Object.hasOwn(inner, String(part))) inner = inner[String(part)];
    else return undefined;
  }
  return inner;
}

function sameOrigin(one: string, other: Json | undefined): boolean {
  return typeof other === 'string' && URL.canParse(other) && new URL(one).host === new URL(other).host;
}

/**
 * Settings with each mask replaced by the secret it stands for. `base`: the opened settings as they are, null where there
 * are none. Throws `secret_required` where nothing is there to keep. The password of an address is kept for the same host
 * only: otherwise whoever may edit a task could have it sent to a host of their own.
 */
export function unmasked(
  value: JsonObject,
  base: JsonObject | null,
  places: SecretPlaces,
  field: readonly PropertyKey[],
) {
  return mapObject(value, (leaf, path) => {
    const kept = at(base, path);
    if (leaf === secretMask && isSecretValue(places, path)) {
      if (typeof kept === 'string') return kept;
      throw secretRequired([...field, ...path]);
    }
    if (isAddress(path) && typeof leaf === 'string' && decodeURIComponent(passwordIn(leaf)) === secretMask) {
      const password = passwordIn(kept);
      // As it was shown: as it was written, not as a URL parser would write it.
      if (password !== '' && typeof kept === 'string' && withPassword(kept, secretMask) === leaf) return kept;
      if (password !== '' && sameOrigin(leaf, kept)) return withPassword(leaf, password);
      throw secretRequired([...field, ...path]);
    }
    return leaf;
  });
}

function secretRequired(path: readonly PropertyKey[]) {
  return refuse(
    path,
    'secret_required',
    `is the mask ${secretMask}, and there is no stored secret to keep: send the secret itself`,
    'secret_required',
  );
}

function keepLeaf(next: Json, clear: Json | undefined, stored: Json | undefined): Json {
  if (isSealed(stored)) {
    return JSON.stringify(next) === JSON.stringify(clear) ? { $sealed: stored.$sealed } : next;
  }
  if (isList(next)) {
    if (!isList(stored) || !isList(clear)) return next;
    return next.map((entry, index) => keepLeaf(entry, clear[index], stored[index]));
  }
  if (!isObject(next) || !isObject(stored) || !isObject(clear)) return next;
  return keepSealed(next, clear, stored);
}

/** Settings with the old ciphertext wherever the clear value is as it was, so that nothing counts as changed. */
export function keepSealed(next: JsonObject, clear: JsonObject, stored: JsonObject): JsonObject {
  return toObject(Object.entries(next).map(([name, entry]) => [name, keepLeaf(entry, clear[name], stored[name])]));
}
