import { describe, expect, it } from '@jest/globals';
import { judgedRevision } from './judged-revision.js';

describe('the revision that the explanation of a run shows', () => {
  it('is that of the task at the run, also where an edit left the code as it was', () => {
    const found = { execution: { revision: 1 }, codeRevision: 0, task: { revision: 2 } };
    expect(judgedRevision(found)).toBe(1);
  });

  it('is that of the task of then, where the run knows of none', () => {
    expect(judgedRevision({ execution: { revision: null }, task: { revision: 2 } })).toBe(2);
  });
});
