import { describe, expect, it } from '@jest/globals';
import type { Policy } from '#contracts/policy';
import { Story } from './alert.kit.js';

describe('the policy changed', () => {
  const changed: Partial<Policy> = { notifyOn: 'changed' };

  it('has nothing to compare a first run with, and notifies of every other value after it', () => {
    const story = new Story(changed);
    expect(story.reasonsOfValues({ value: 5 }, { value: 5 }, { value: 7 }, { value: 7 }, { value: 5 })).toEqual([
      'not_changed',
      'not_changed',
      'changed',
      'not_changed',
      'changed',
    ]);
    expect(story.messages()).toEqual(['triggered:changed', 'triggered:changed']);
    expect(story.decided[2]?.intents[0]?.change).toEqual({ from: '5', to: '7' });
  });

  it('compares outcomes where no value is reported, and notifies as triggered whichever way it went', () => {
    const story = new Story(changed);
    expect(story.reasons('ttfft')).toEqual(['not_changed', 'not_changed', 'changed', 'not_changed', 'changed']);
    expect(story.messages()).toEqual(['triggered:changed', 'triggered:changed']);
    expect(story.decided[2]?.decision.transition).toEqual({ kind: 'condition', from: 'true', to: 'false' });
  });

  it('compares the value called value alone, and what it holds instead of how it is written', () => {
    const story = new Story(changed);
    const one = { value: [{ a: 1, b: [null] }], price: 1 };
    expect(story.reasonsOfValues(one, { value: [{ b: [null], a: 1 }], price: 2 }, { value: [] })).toEqual([
      'not_changed',
      'not_changed',
      'changed',
    ]);
  });

  it('tells 1 from "1", false from null and an empty object from an empty list', () => {
    const story = new Story(changed);
    const values = [1, '1', false, null, {}, []].map((value) => ({ value }));
    expect(story.reasonsOfValues(...values)).toEqual([
      'not_changed',
      'changed',
      'changed',
      'changed',
      'changed',
      'changed',
    ]);
  });

  it('keeps a long value by its hash, so that no event grows with it', () => {
    const story = new Story(changed);
    const long = 'x'.repeat(10_000);
    expect(story.reasonsOfValues({ value: long }, { value: long }, { value: `${long}y` })).toEqual([
      'not_changed',
      'not_changed',
      'changed',
    ]);
    expect(story.alert.lastValue?.length).toBeLessThan(100);
    expect(story.decided[2]?.intents[0]?.change).toBeUndefined();
  });

  it('ignores runs that failed', () => {
    const story = new Story({ ...changed, errorThreshold: 5 });
    expect(story.reasons('tetf')).toEqual(['not_changed', 'error_below_threshold', 'not_changed', 'changed']);
  });

  it('waits until a new value was seen so often in a row', () => {
    const story = new Story({ ...changed, confirmations: 2 });
    const values = [1, 2, 1, 2, 3, 3, 3].map((value) => ({ value }));
    expect(story.reasonsOfValues(...values)).toEqual([
      'not_changed',
      'awaiting_confirmation',
      'not_changed',
      'awaiting_confirmation',
      'awaiting_confirmation',
      'changed',
      'not_changed',
    ]);
  });

  it('notifies of a value that was held back once it may, and of none that went back', () => {
    const story = new Story({ ...changed, muted: true });
    expect(story.reasonsOfValues({ value: 1 }, { value: 2 }, { value: 1 })).toEqual([
      'not_changed',
      'muted',
      'not_changed',
    ]);
    story.run(true, { values: { value: 3 } });
    story.with({ muted: false });
    expect(story.reasonsOfValues({ value: 3 }, { value: 3 })).toEqual(['changed', 'not_changed']);
    expect(story.decided[4]?.intents[0]?.change).toEqual({ from: '1', to: '3' });
  });

  it('says nothing while the outcomes flap, and afterwards what differs then', () => {
    const story = new Story({ ...changed, flapWindow: 4 });
    expect(story.reasons('tftt')).toEqual(['not_changed', 'changed', 'flapping', 'flapping']);
    expect(story.reasons('tt')).toEqual(['changed', 'not_changed']);
  });

  it('becomes became_true without losing what was never notified', () => {
    const story = new Story(changed);
    story.reasons('tt');
    expect(story.with({ notifyOn: 'became_true' }).reasons('tt')).toEqual(['became_true', 'still_true']);
    expect(story.alert).not.toHaveProperty('lastValue');
  });
});
