/** What a preview foresees (libs/contracts/foreseen-message.ts), held against what is decided once it happens. */
import { describe, expect, it } from '@jest/globals';
import { foreseenMessage } from '#contracts/foreseen-message';
import { sentenceOf, type Told } from '#contracts/message-sentence';
import type { Policy } from '#contracts/policy';
import type { JsonObject } from '#runtime/json';
import { Story, defaultPolicy } from './alert.kit.js';

interface Seen {
  readonly outcome: boolean;
  readonly values: JsonObject;
}

const foreseen = (notifyOn: Policy['notifyOn'], first: Seen): Told =>
  foreseenMessage('triggered', { ...defaultPolicy, notifyOn }, first);

/** The message that the second of two runs makes. */
function sent(notifyOn: Policy['notifyOn'], first: Seen, second: Seen): Told | undefined {
  const story = new Story({ notifyOn });
  for (const { outcome, values } of [first, second]) story.run(outcome, { values });
  return story.decided.at(-1)?.intents.map(({ dedupKey: _dedupKey, ...told }) => told)[0];
}

describe('the message that a policy would send next', () => {
  const no: Seen = { outcome: false, values: {} };
  const yes: Seen = { outcome: true, values: {} };

  it.each(['became_true', 'every_true', 'changed'] as const)(
    'is for an outcome under %s what is sent then',
    (notifyOn) => {
      expect(foreseen(notifyOn, no)).toEqual(sent(notifyOn, no, yes));
    },
  );

  it('is of a value under changed what is sent then, but for the value that nobody knows yet', () => {
    const first: Seen = { outcome: true, values: { value: 'sold out' } };
    const second: Seen = { outcome: true, values: { value: 'in stock' } };
    const [told, real] = [foreseen('changed', first), sent('changed', first, second)];
    expect(real).toMatchObject({
      reason: 'changed',
      transition: null,
      change: { from: '"sold out"', to: '"in stock"' },
    });
    expect(told).toEqual({ ...real, change: { from: '"sold out"', to: 'another' } });
    const words = (one: Told): string => sentenceOf(one, 'Lamp', { ...first, error: null });
    expect(words(told)).toBe('"Lamp": the value changed from "sold out" to another.');
  });

  it('names no value that is too long to be kept, as what is sent then', () => {
    const first: Seen = { outcome: true, values: { value: 'x'.repeat(300) } };
    const second: Seen = { outcome: true, values: { value: 'y' } };
    expect(foreseen('changed', first)).toEqual(sent('changed', first, second));
  });
});
