/** A task that is not saved yet: everything typed is kept in this browser until it is saved or discarded. */
import type { ActionDraft } from '../actions/action-draft.js';
import type { BrowserStep, Policy, Schedule } from '../api/types.js';

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

const storageKey = 'meerkat.draft.new';

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

export function keptDraft(): NewTaskDraft {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storageKey) ?? 'null');
    return typeof kept === 'object' && kept !== null ? { ...empty, ...kept } : empty;
  } catch {
    return empty;
  }
}

export const keepDraft = (draft: NewTaskDraft): void => localStorage.setItem(storageKey, JSON.stringify(draft));
export const clearDraft = (): void => localStorage.removeItem(storageKey);
