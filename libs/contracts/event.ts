/** How a stored event is declared: once, with its version, its schema and the way from older versions to it. */
import type { JsonObject } from '#runtime/json';
import type { z } from 'zod';

/** One step from a version to the next. Never edited once released. */
export type Upcast = (data: JsonObject) => JsonObject;

export interface EventDefinition<Type extends string = string, Schema extends z.ZodType = z.ZodType> {
  readonly type: Type;
  /** The version that is written. */
  readonly version: number;
  readonly schema: Schema;
  /** The steps from version 1 to 2, 2 to 3 …, up to `version`. */
  readonly upcast: readonly Upcast[];
  /**
   * Fills in fields that the first events of this same version were stored without: what the schema's defaults do, without
   * the cost of a parse. Typed as if all were there, so each such field needs a default.
   */
  complete?(data: z.output<Schema>): z.output<Schema>;
}

export function defineEvent<const Type extends string, Schema extends z.ZodType>(
  type: Type,
  definition: Omit<EventDefinition<Type, Schema>, 'type' | 'upcast'> & { readonly upcast?: readonly Upcast[] },
): EventDefinition<Type, Schema> {
  const { version, upcast = [] } = definition;
  if (upcast.length !== version - 1) throw new Error(`${type} v${version} needs ${version - 1} upcasters`);
  return { ...definition, type, upcast };
}

/** The events that definitions stand for, as a union by type. */
export type EventOf<Definition extends EventDefinition> =
  Definition extends EventDefinition<infer Type, infer Schema>
    ? { readonly type: Type; readonly data: z.output<Schema> }
    : never;

export type EventCatalogue = Readonly<Record<string, EventDefinition>>;

/** By type. Throws where a type is declared twice. */
export function catalogueOf(definitions: readonly EventDefinition[]): EventCatalogue {
  const catalogue = Object.fromEntries(definitions.map((definition) => [definition.type, definition]));
  if (Object.keys(catalogue).length !== definitions.length) throw new Error('an event type is declared twice');
  return catalogue;
}

/** How events become state. */
export interface Fold<State, Event> {
  readonly initial: State;
  /** Never throws and never validates: what is recorded, happened. */
  evolve(state: State, event: Event): State;
}
