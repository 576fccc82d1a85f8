/** An action while it is edited: by a channel with settings of its own, or by a contact that has them. Pure. */
import type { Action, ActionInput } from '../api/types.js';
import type { Settings } from './field-kinds.js';

export const kinds = ['triggered', 'recovered', 'error'] as const;
export type Kind = (typeof kinds)[number];

interface Common {
  readonly id?: string;
  readonly enabled: boolean;
  readonly on: readonly Kind[];
  readonly expireAfterSeconds: number;
  readonly digestSeconds: number;
  readonly afterSeconds: number;
  readonly retryUnknown?: boolean;
}

export type ActionDraft = Common &
  ({ readonly type: string; readonly config: Settings } | { readonly contact: string });

const fresh: Common = {
  enabled: true,
  on: ['triggered', 'error'],
  expireAfterSeconds: 86_400,
  digestSeconds: 0,
  afterSeconds: 0,
};

export const freshAction = (type: string): ActionDraft => ({ ...fresh, type, config: {} });
export const freshContactAction = (contact: string): ActionDraft => ({ ...fresh, contact });

/** What was kept of one; null where it says neither a channel nor a contact. */
export function actionDraftOf(kept: object): ActionDraft | null {
  const { type, config, contact } = kept as Readonly<Record<string, unknown>>;
  const isByContact = typeof contact === 'string';
  const isByChannel = typeof type === 'string' && typeof config === 'object' && config !== null;
  return isByContact || isByChannel ? ({ ...fresh, ...kept } as ActionDraft) : null;
}

export const settingsOf = (action: ActionDraft | Action): Settings =>
  'contact' in action ? { contact: action.contact } : action.config;

/** As the API takes it; the id stands in the address. */
export function inputOf(draft: ActionDraft | Action): ActionInput {
  const { id: _id, ...input } = draft;
  if ('contact' in input) {
    const { type: _type, config: _config, ...named } = input as typeof input & { type?: unknown; config?: unknown };
    return named as ActionInput;
  }
  return input as ActionInput;
}
