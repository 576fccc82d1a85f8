/** Which values of a task's settings are secrets, how they are masked in answers, and how a mask that comes back keeps them. */
import { z } from 'zod';
import { declarations, type ActionType } from '#channels/declarations';
import { decode } from '#channels/http-request';
import { isSecretHeader } from '#contracts/common';
import { isSecretBody, isSecretStep, stepsOf } from '#contracts/fetch';
import { refuse } from '#http/validation';
import type { Change } from '#runtime/json-diff';
import { isJsonObject, jsonEquals, ownMember, type Json, type JsonObject } from '#runtime/json';
import { secretMask } from '#runtime/secret-mask';
import { isSealed } from '#vault/vault';

/** `['secrets', '*']`: every member of `secrets`, also where it is a list. */
type Place = readonly string[];

const jsonSchema = z.looseObject({
  writeOnly: z.boolean().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
});

/** The places that a schema marks `writeOnly`. */
function writeOnlyPlaces(schema: unknown, path: Place = []): readonly Place[] {
  const parsed = jsonSchema.safeParse(schema);
  if (!parsed.success) return [];
  if (parsed.data.writeOnly === true) return [path];
  const members = Object.entries(parsed.data.properties ?? {}).flatMap(([name, member]) =>
    writeOnlyPlaces(member, [...path, name]),
  );
  const { additionalProperties, items } = parsed.data;
  const others = [additionalProperties, items].flatMap((schema) => writeOnlyPlaces(schema, [...path, '*']));
  return [...members, ...others];
}

/** What is secret in one kind of settings, and what decides where it goes. */
export interface SecretPlaces {
  readonly writeOnly: readonly Place[];
  /** Members that hold an address: its password is a secret. */
  readonly addresses: readonly string[];
  /** Members that hold code, which reads the secrets. */
  readonly code: readonly string[];
  /** Members that say which program is run with the secrets, and how. */
  readonly programs: readonly string[];
  /** Secrets that sign and are never sent: they are kept wherever the settings lead. */
  readonly signing: readonly string[];
  /** Whether `body` is a secret in these settings. */
  readonly isSecretBody: (settings: JsonObject) => boolean;
}

const placesByType: ReadonlyMap<string, SecretPlaces> = new Map(
  declarations.map(({ type, config, addresses, code, programs, generated }) => {
    const schema = z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' });
    const signing = generated.map(({ name }) => name);
    return [
      type,
      { writeOnly: writeOnlyPlaces(schema), addresses, code, programs, signing, isSecretBody: () => false },
    ];
  }),
);

export function secretsOfAction(type: ActionType): SecretPlaces {
  const places = placesByType.get(type);
  if (places === undefined) throw new Error(`no channel is declared for ${type}`);
  return places;
}

/** Of `fetch`: headers by their names, the passwords of the page and of the proxy, and a body that is a login. */
export const secretsOfFetch: SecretPlaces = {
  writeOnly: [['auth', 'password']],
  addresses: ['proxy'],
  code: [],
  programs: [],
  signing: [],
  isSecretBody,
};

type Path = readonly (string | number)[];

function isWriteOnly({ writeOnly }: SecretPlaces, path: Path): boolean {
  return writeOnly.some(
    (place) => place.length === path.length && place.every((part, index) => part === '*' || part === path[index]),
  );
}

/** `settings` in clear: what they hold may decide. */
function isSecretValue(places: SecretPlaces, path: Path, settings: JsonObject | null): boolean {
  if (isWriteOnly(places, path)) return true;
  const [group, name] = path;
  if (path.length === 4 && group === 'browser' && name === 'steps' && path[3] === 'value') {
    const step = settings === null ? undefined : stepsOf(settings)[Number(path[2])];
    return step !== undefined && isSecretStep(step);
  }
  if (path.length === 1 && group === 'body') return settings !== null && places.isSecretBody(settings);
  return isHeader(path) && typeof name === 'string' && isSecretHeader(name);
}

function isHeader(path: Path): boolean {
  return path.length === 2 && path[0] === 'headers';
}

function isAddress({ addresses }: SecretPlaces, path: Path): boolean {
  const [name] = path;
  return path.length === 1 && typeof name === 'string' && addresses.includes(name);
}

function mapLeaves(value: Json, path: Path, visit: (leaf: Json, path: Path) => Json): Json {
  if (isList(value)) return value.map((entry, index) => mapLeaves(entry, [...path, index], visit));
  if (!isJsonObject(value) || isSealed(value)) return visit(value, path);
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, mapLeaves(entry, [...path, name], visit)]),
  );
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function withPassword(address: string, password: string): string {
  const url = new URL(address);
  url.password = password;
  // A template in the address stays as it was written.
  const isTemplate = address.includes('{{');
  return isTemplate ? address.replace(/^([a-z]+:\/\/[^/?#@:]*:)[^/?#]*@/i, `$1${url.password}@`) : url.href;
}

function passwordIn(value: Json | undefined): string {
  return typeof value === 'string' && URL.canParse(value) ? new URL(value).password : '';
}

function mapObject(value: JsonObject, visit: (leaf: Json, path: Path) => Json): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, mapLeaves(entry, [name], visit)]));
}

/** Settings as they are answered. `value` is opened: addresses stand in clear, secrets do not. */
export function masked(value: JsonObject, places: SecretPlaces): JsonObject {
  return mapObject(value, (leaf, path) => {
    if (isSealed(leaf)) return secretMask;
    if (isSecretValue(places, path, value)) return secretMask;
    if (isAddress(places, path) && typeof leaf === 'string' && passwordIn(leaf) !== '')
      return withPassword(leaf, secretMask);
    return leaf;
  });
}

/** Anything that may hold sealed values, with the mask in their place. */
export function withoutSealed(value: Json): Json {
  return mapLeaves(value, [], (leaf) => (isSealed(leaf) ? secretMask : leaf));
}

/** A change as a plan shows it. */
export interface ShownChange extends Change {
  /** What differs is a secret: both sides are masks, and masks look alike. */
  readonly secret?: true;
}

export function shownChange({ path, ...sides }: Change): ShownChange {
  const isSecret = Object.values(sides).every(isSealed);
  const shown = Object.fromEntries(Object.entries(sides).map(([side, value]) => [side, withoutSealed(value)]));
  return { path, ...(isSecret ? { secret: true } : {}), ...shown };
}

function at(value: JsonObject | null, path: Path): Json | undefined {
  let inner: Json | undefined = value ?? undefined;
  for (const part of path) {
    if (isList(inner)) inner = inner[Number(part)];
    else if (isJsonObject(inner) && Object.hasOwn(inner, String(part))) inner = inner[String(part)];
    else return undefined;
  }
  return inner;
}

function sameOrigin(one: string, other: Json | undefined): boolean {
  return typeof other === 'string' && URL.canParse(other) && new URL(one).host === new URL(other).host;
}

/** Text that is no address is its own origin, so that it counts as moved where it differs. */
export function originOf(address: Json | undefined): Json | undefined {
  if (typeof address !== 'string' || !URL.canParse(address)) return address;
  const { origin, protocol, host } = new URL(address);
  // A scheme that is not of the web has no origin of its own.
  return origin === 'null' ? `${protocol}//${host}` : origin;
}

/** Whether the settings lead elsewhere than those that the secrets were given for: to another origin, or into other code. */
function leadsElsewhere(
  value: JsonObject,
  base: JsonObject | null,
  { addresses, code, programs }: SecretPlaces,
): boolean {
  const isMoved = (name: string): boolean => {
    const address = value[name];
    // A masked address is the one that is stored; `null` is the proxy that is left out, and leads nowhere else.
    return address !== secretMask && address !== null && originOf(address) !== originOf(base?.[name]);
  };
  const isChanged = (name: string): boolean => !jsonEquals(value[name] ?? null, base?.[name] ?? null);
  return addresses.some(isMoved) || [...code, ...programs].some(isChanged);
}

/** Where the steps of a page lead besides the task's own origin. */
function originsOfSteps(settings: JsonObject | null): string {
  const origins = stepsOf(settings ?? {}).flatMap(({ do: what, value }) =>
    what === 'goto' && typeof value === 'string' ? [URL.parse(value)?.origin ?? ''] : [],
  );
  return [...new Set(origins)].sort().join(' ');
}

/** What was filled in before, where a step with the same `do` and selector comes back masked, wherever it stands now. */
function withKeptSteps(
  value: JsonObject,
  base: JsonObject | null,
  field: readonly PropertyKey[],
  isMoved: boolean,
): JsonObject {
  const { browser } = value;
  if (!isJsonObject(browser)) return value;
  const leads = isMoved || originsOfSteps(value) !== originsOfSteps(base);
  const steps = stepsOf(value).map((step, index) => {
    if (step['value'] !== secretMask || !isSecretStep(step)) return step;
    const path = [...field, 'browser', 'steps', index, 'value'];
    const kept = stepsOf(base ?? {}).find(
      (one) => one['do'] === step['do'] && one['selector'] === step['selector'] && isSecretStep(one),
    );
    if (kept === undefined) throw secretRequired(path, nothingToKeep);
    if (leads) throw secretRequired(path, elsewhere);
    return { ...step, value: kept['value'] ?? '' };
  });
  return { ...value, browser: { ...browser, steps } };
}

/**
 * Settings with each mask replaced by the secret it stands for. `base`: the opened settings as they are, null where there
 * are none. `isMoved`: what is outside of the settings leads elsewhere. Throws `secret_required` where nothing is there to
 * keep, and where a secret would go to another host or into other code than it was given for: who may edit a task may not
 * read its secrets.
 */
export function unmasked(
  value: JsonObject,
  base: JsonObject | null,
  places: SecretPlaces,
  field: readonly PropertyKey[],
  isMoved = false,
) {
  return unmaskedLeaves(withKeptSteps(value, base, field, isMoved), base, places, field, isMoved);
}

function unmaskedLeaves(
  value: JsonObject,
  base: JsonObject | null,
  places: SecretPlaces,
  field: readonly PropertyKey[],
  isMoved: boolean,
) {
  const leads = isMoved || leadsElsewhere(value, base, places);
  return mapObject(value, (leaf, path) => {
    const kept = at(base, path);
    if (leaf === secretMask && isSecretValue(places, path, value)) {
      if (typeof kept !== 'string') throw secretRequired([...field, ...path], nothingToKeep);
      if (isOfOtherList(value, base, path)) throw secretRequired([...field, ...path], otherList);
      if (leads && !places.signing.includes(String(path[0]))) throw secretRequired([...field, ...path], elsewhere);
      // A body that is no secret any more would be shown.
      if (!isSecretValue(places, path, { ...value, body: kept })) throw secretRequired([...field, ...path], elsewhere);
      return kept;
    }
    // Of what is shown in clear no mask was given: it would be stored as the eight asterisks that it is.
    if (leaf === secretMask && isHeader(path) && kept !== secretMask) {
      throw secretRequired([...field, ...path], nothingToKeep);
    }
    if (isAddress(places, path) && typeof leaf === 'string' && decode(passwordIn(leaf)) === secretMask) {
      const password = passwordIn(kept);
      // As it was shown: as it was written, not as a URL parser would write it.
      if (password !== '' && typeof kept === 'string' && withPassword(kept, secretMask) === leaf) return kept;
      if (password !== '' && sameOrigin(leaf, kept)) return withPassword(leaf, password);
      throw secretRequired([...field, ...path], password === '' ? nothingToKeep : elsewhere);
    }
    return leaf;
  });
}

/** Masks look alike: in a list of another length nobody knows which of them are meant. */
function isOfOtherList(value: JsonObject, base: JsonObject | null, path: Path): boolean {
  const [now, before] = [at(value, path.slice(0, -1)), at(base, path.slice(0, -1))];
  return isList(now) && isList(before) && now.length !== before.length;
}

const otherList = 'the list has another length than the stored one';
const nothingToKeep = 'there is no stored secret to keep';
const elsewhere = 'the stored secret was given for another origin, proxy, code or protection';

function secretRequired(path: readonly PropertyKey[], why: string) {
  const problem = `is the mask ${secretMask}, and ${why}: send the secret itself`;
  return refuse(path, 'secret_required', problem, 'secret_required');
}

function keepLeaf(next: Json, clear: Json | undefined, stored: Json | undefined): Json {
  if (isSealed(stored)) {
    return jsonEquals(next, clear) ? { $sealed: stored.$sealed } : next;
  }
  if (isList(next)) {
    if (!isList(stored) || !isList(clear)) return next;
    return next.map((entry, index) => keepLeaf(entry, clear[index], stored[index]));
  }
  if (!isJsonObject(next) || !isJsonObject(stored) || !isJsonObject(clear)) return next;
  return keepSealed(next, clear, stored);
}

/** Settings with the old ciphertext wherever the clear value is as it was, so that nothing counts as changed. */
export function keepSealed(next: JsonObject, clear: JsonObject, stored: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(next).map(([name, entry]) => [
      name,
      keepLeaf(entry, ownMember(clear, name), ownMember(stored, name)),
    ]),
  );
}
