/** What a channel declares about its settings. Everything that is done with an action before it is sent follows from this. */
import { z } from 'zod';

/** Random text that the service makes where the user gives none; shown once, in the answer that made it. */
export interface GeneratedText<Member extends string = string> {
  readonly name: Member;
  readonly prefix: string;
  /** Random bytes, written in base64 after the prefix. */
  readonly bytes: number;
  /** Members that hold the text before it was rotated, and until when it is still used beside the new one. */
  readonly previous?: { readonly name: Member; readonly until: Member };
}

export type Need = 'smtp' | 'commands';

interface DeclaredMembers<Member extends string> {
  /**
   * Members that hold an address: refused at save where this instance never connects to it, a password inside is masked.
   * Secrets are kept only while every address keeps its origin: otherwise an editor of the task could have them sent to a
   * host of their own.
   */
  readonly addresses?: readonly Member[];
  /** Members that hold a template: parsed at save. */
  readonly templates?: readonly Member[];
  /** Members that hold code for the sandbox: parsed at save. Secrets are kept only while it stays as it is. */
  readonly code?: readonly Member[];
  /** Secrets that sign and are never sent: made where the user leaves them out, kept wherever the settings lead. */
  readonly generated?: readonly GeneratedText<Member>[];
  /** Members that say which program of the machine is run, and how: the first one names it. Secrets are kept only while they stay as they are. */
  readonly programs?: readonly Member[];
  /** What the instance has to have. `smtp`: a mail server; `commands`: programs that the operator names. */
  readonly needs?: Need;
}

/** A member of `config` whose schema says `writeOnly` is a secret: masked in every answer, kept where its mask comes back. */
export interface ChannelDeclaration<Type extends string = string, Config extends z.ZodObject = z.ZodObject> {
  readonly type: Type;
  readonly config: Config;
  /** Paths that are stored encrypted: every secret, and every address of a person or a server. `to`, `to[]`, `headers.*`. */
  readonly sealed: readonly string[];
  readonly addresses: readonly string[];
  /** Those of them that are secrets: what they end in gives access. */
  readonly secretAddresses: readonly string[];
  readonly templates: readonly string[];
  readonly code: readonly string[];
  readonly generated: readonly GeneratedText[];
  readonly programs: readonly string[];
  readonly needs: Need | null;
}

function isSecret(schema: unknown): boolean {
  if (schema instanceof z.ZodOptional) return isSecret(schema.unwrap());
  return schema instanceof z.ZodType && schema.meta()?.['writeOnly'] === true;
}

export function declareChannel<Type extends string, Config extends z.ZodObject>(
  declared: Pick<ChannelDeclaration<Type, Config>, 'type' | 'config' | 'sealed'> &
    DeclaredMembers<keyof z.output<Config> & string>,
): ChannelDeclaration<Type, Config> {
  const { addresses = [], config } = declared;
  const secretAddresses = addresses.filter((name) => isSecret(config.shape[name] as unknown));
  return { templates: [], code: [], programs: [], generated: [], needs: null, ...declared, addresses, secretAddresses };
}
