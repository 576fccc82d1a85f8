/** Documents as SQLite keeps them: as text, or packed where a view says so. */
import { asJson } from '#runtime/json';
import { packJson, unpackJson } from '#runtime/packed-json';
import type { AnyView } from './read-store.js';

/** Packed or not: a view may have rows of both kinds. */
export function documentOf<D>({ document }: Record<string, unknown>): D {
  return (typeof document === 'string' ? JSON.parse(document) : unpackJson(document as Uint8Array)) as D;
}

export const storedDocument = ({ isPacked }: AnyView, document: object): string | Uint8Array =>
  isPacked === true ? packJson(asJson(document)) : JSON.stringify(document);
