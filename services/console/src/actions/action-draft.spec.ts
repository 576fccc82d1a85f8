import { describe, expect, it } from '@jest/globals';
import { actionDraftOf, freshAction, freshContactAction } from './action-draft.js';

describe('an action that was kept in a browser', () => {
  it.each([freshAction('ntfy'), freshContactAction('ops')])('comes back as it was', (draft) => {
    expect(actionDraftOf(JSON.parse(JSON.stringify(draft)) as object)).toEqual(draft);
  });

  it('has the usual settings where an older console kept none', () => {
    expect(actionDraftOf({ contact: 'ops' })).toEqual(freshContactAction('ops'));
  });

  it.each([{}, { type: 'ntfy' }, { type: 'ntfy', config: null }, { contact: 7 }])('is none: %j', (kept) => {
    expect(actionDraftOf(kept)).toBeNull();
  });
});
