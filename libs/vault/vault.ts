/** The vault: secrets and addresses are sealed with a key per task before anything is stored, and opened only where used. */
import type { JsonObject } from '#runtime/json';

/** What stands in events and views in place of a value: `{ "$sealed": "<base64url>" }`. */
export interface Sealed {
  readonly $sealed: string;
}

export function isSealed(value: unknown): value is Sealed {
  return typeof value === 'object' && value !== null && '$sealed' in value && typeof value.$sealed === 'string';
}

export interface Vault {
  /** Seals every value at one of the paths (`to`, `headers.Authorization`, `secrets.*`, `urls[]`); what is sealed already stays. The owner and the path are associated data: a sealed value moved elsewhere does not open. */
  seal(ownerId: string, scope: string, value: JsonObject, paths: readonly string[]): Promise<JsonObject>;
  /** Opens every sealed value inside, in one step. Rejects with `secret_unreadable` where a key was dropped or a value tampered with. */
  open(ownerId: string, scope: string, value: JsonObject): Promise<JsonObject>;
  /** The owner's key goes from memory: what is opened next is opened only where no other process has dropped it. */
  forgetKey(ownerId: string): void;
}

export const VAULT = Symbol('Vault');
