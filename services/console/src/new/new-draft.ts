/** A task that is not saved yet: what is typed is kept in this browser until it is saved or discarded, but for its secrets. */
import type { ActionDraft } from '../actions/action-draft.js';
import type { ActionType } from '../actions/action-types.js';
import { actionWithoutSecrets, addressWithoutPassword, stepWithoutSecrets } from '../actions/without-secrets.js';
import type { BrowserStep, Policy, Schedule } from '../api/types.js';
import { keepAt, keptAt } from '../frame/kept.js';

export interface NewTaskDraft {
  readonly url: string;
  readonly mode: 'http' | 'browser';
  /** Done before the page is read, where a browser renders it. */
  readonly steps: readonly BrowserStep[];
  readonly name: string;
  readonly code: string;
  readonly notifyOn: Policy['notifyOn'];
  readonly schedule: Schedule;
  /** Null: nobody has looked at them; an e-mail to oneself is offered then. */
  readonly actions: readonly ActionDraft[] | null;
  readonly tags: string[];
}

const storageKey = 'new';

const empty: NewTaskDraft = {
  url: '',
  mode: 'http',
  steps: [],
  name: '',
  code: '',
  notifyOn: 'became_true',
  schedule: {
    type: 'interval',
    intervalSeconds: 300,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    startAt: null,
    endAt: null,
    windows: [],
    jitterSeconds: 0,
    overlap: 'skip',
    catchUp: 'latest',
  },
  actions: null,
  tags: [],
};

export const keptDraft = (): NewTaskDraft => ({ ...empty, ...keptAt(storageKey) });

/** Without what is secret. */
export function keepDraft(draft: NewTaskDraft, types: readonly ActionType[]): void {
  const actions = draft.actions?.map((action) => actionWithoutSecrets(action, types)) ?? null;
  const steps = draft.steps.map(stepWithoutSecrets);
  keepAt(storageKey, { ...draft, url: addressWithoutPassword(draft.url), actions, steps });
}

export const clearDraft = (): void => keepAt(storageKey, null);
