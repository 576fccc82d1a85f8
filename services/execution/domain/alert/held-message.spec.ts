import { describe, expect, it } from '@jest/globals';
import type { Policy } from '#contracts/policy';
import { Story } from './alert.kit.js';
import { explainDecision } from './explain-decision.js';
import type { AlertContext } from './step.js';
import type { DecidedRun } from './wanted-message.js';

/** What explains the last run, and the sentence it ends with. */
function explained(run: DecidedRun): { readonly said: string; readonly end: string } {
  const messages = explainDecision(run).map(({ message }) => message);
  return { said: messages.join(' '), end: messages.at(-1) ?? '' };
}

interface Held {
  readonly policy?: Partial<Policy>;
  /** The runs before the one that is held back. */
  readonly before: (story: Story) => void;
  readonly held: (story: Story) => void;
  /** What of all the sentences on what there is to tell is said. */
  readonly says: string | null;
}

const became = 'The condition is true, and that had not been told.';
const every = 'The condition is true, and the policy tells every run that finds it so.';
const reminder = 'The condition is still true, and a reminder was due.';
const recovered = 'The condition is not true any more, and that it was true has been told.';
const endOfError = 'That the task could not be checked has been told, and it is over.';
const changed = 'The value, or the outcome where none is reported, differs from the last one.';
const error = 'This error had not been told yet.';
const all = [became, every, reminder, recovered, endOfError, changed, error];

const value = (story: Story, outcome: boolean, found: number): void =>
  void story.run(outcome, { values: { value: found } });

const wanted: Readonly<Record<string, Held>> = {
  'that it became true': { before: (story) => story.run(false), held: (story) => story.run(true), says: became },
  'one of every run': {
    policy: { notifyOn: 'every_true' },
    before: (story) => story.run(true),
    held: (story) => story.run(true),
    says: every,
  },
  'a reminder': {
    policy: { reminderSeconds: 60 },
    before: (story) => story.run(true),
    held: (story) => story.run(true),
    says: reminder,
  },
  'that a value changed': {
    policy: { notifyOn: 'changed' },
    before: (story) => {
      value(story, true, 1);
      value(story, true, 2);
    },
    held: (story) => value(story, false, 3),
    says: changed,
  },
  'the recovery of the condition': {
    before: (story) => story.run(true),
    held: (story) => story.run(false),
    says: recovered,
  },
  'an error': {
    policy: { errorThreshold: 1 },
    before: (story) => story.run(false),
    held: (story) => story.run(null),
    says: error,
  },
  'the end of an error': {
    policy: { errorThreshold: 1 },
    before: (story) => story.run(null),
    held: (story) => story.run(false),
    says: endOfError,
  },
  'the end of an error of a condition that goes on': {
    policy: { errorThreshold: 1 },
    before: (story) => story.reasons('te'),
    held: (story) => story.run(true),
    says: endOfError,
  },
  'the end of an error of a value that stays': {
    policy: { errorThreshold: 1, notifyOn: 'changed' },
    before: (story) => {
      value(story, false, 1);
      story.run(null);
    },
    held: (story) => value(story, false, 1),
    says: endOfError,
  },
};

const gates: Readonly<Record<string, readonly [Partial<Policy>, Partial<AlertContext>, string]>> = {
  muted: [{ muted: true }, {}, 'The policy is muted.'],
  quiet_hours: [
    { quietHours: [{ days: ['sat'], from: '00:00', to: '24:00', timezone: 'UTC' }] },
    {},
    'It is within the quiet hours.',
  ],
  dependency_down: [{}, { isDependencyDown: true }, 'A task that it depends on'],
  paused: [{}, { paused: true }, 'The task is paused.'],
  no_actions: [{}, { actions: [] }, 'but no enabled action listens'],
};

const open: readonly [Partial<Policy>, Partial<AlertContext>] = [
  { muted: false, quietHours: [] },
  { isDependencyDown: false, paused: false },
];

const onlyOne = (run: DecidedRun, said: string | null): void => {
  const { said: text } = explained(run);
  expect(all.filter((sentence) => text.includes(sentence))).toEqual(said === null ? [] : [said]);
};

describe.each(Object.entries(gates))('what is held back by %s', (gate, [policy, more, why]) => {
  // A pause holds back no more than what the condition has to tell; of an error that ends beside it the decision says nothing.
  const held = Object.entries(wanted).filter(([what]) => gate !== 'paused' || !what.startsWith('the end'));

  it.each(held)(
    'and is %s is explained as that, and by that',
    (_what, { policy: own = {}, before, held: go, says }) => {
      const story = new Story(own);
      before(story);
      story.with(policy, more);
      go(story);
      const run = story.decidedRun();
      expect(run.decision).toMatchObject({ notify: false, reason: gate });
      onlyOne(run, says);
      expect(explained(run).end).toContain(why);
      if (gate === 'no_actions' || gate === 'paused' || says === changed) return;
      // The next run tells it, and is explained as what it is.
      story.with(...open);
      story.later(60);
      go(story);
      expect(story.decidedRun().decision.notify).toBe(true);
      onlyOne(story.decidedRun(), says);
    },
  );
});

describe('what a cooldown or an hourly cap holds back', () => {
  it.each([
    ['cooldown', 'became_true', { cooldownSeconds: 3_600 }, 'tft', became],
    ['cooldown', 'every_true', { cooldownSeconds: 3_600 }, 'tt', every],
    ['rate_capped', 'became_true', { maxPerHour: 2 }, 'tft', became],
    ['rate_capped', 'every_true', { maxPerHour: 1 }, 'tt', every],
    ['rate_capped', 'became_true', { maxPerHour: 1, reminderSeconds: 60 }, 'tt', reminder],
    ['rate_capped', 'became_true', { maxPerHour: 1 }, 'tf', recovered],
    ['rate_capped', 'became_true', { maxPerHour: 1 }, 'te', error],
    ['rate_capped', 'became_true', { maxPerHour: 1 }, 'ef', endOfError],
  ] as const)('(%s, %s, %j, %s) is explained as what it is', (gate, notifyOn, policy, outcomes, says) => {
    const story = new Story({ errorThreshold: 1, notifyOn, ...policy });
    story.reasons(outcomes);
    expect(story.decidedRun().decision).toMatchObject({ notify: false, reason: gate });
    onlyOne(story.decidedRun(), says);
  });

  it.each([
    ['cooldown', { cooldownSeconds: 3_600 }],
    ['rate_capped', { maxPerHour: 1 }],
  ] as const)('(%s) of a value that changed is explained as that', (gate, policy) => {
    const story = new Story({ notifyOn: 'changed', ...policy });
    for (const found of [1, 2, 3]) value(story, true, found);
    expect(story.decidedRun().decision).toMatchObject({ notify: false, reason: gate });
    onlyOne(story.decidedRun(), changed);
  });
});

describe('the explanation of a message', () => {
  it('does not call a cooldown over that is not asked', () => {
    const story = new Story({ cooldownSeconds: 3_600 });
    story.reasons('tf');
    expect(story.decidedRun().decision.reason).toBe('recovered');
    expect(explained(story.decidedRun()).said).not.toContain('is over.');
  });

  it('does not call a policy without silence that was not asked', () => {
    const recovery = new Story({}, { actions: [{ enabled: true, on: ['triggered'] }] });
    recovery.run(true);
    recovery.with({ muted: true }).run(false);
    const forced = new Story({ muted: true }, { actions: [] });
    forced.run(true, { trigger: 'manual', force: true });
    for (const story of [recovery, forced]) {
      expect(story.decidedRun().decision.reason).toBe('no_actions');
      expect(explained(story.decidedRun()).said).not.toContain('not muted');
    }
  });

  it('speaks of an end of an error that comes with the condition as the condition has it', () => {
    const story = new Story({ errorThreshold: 1 });
    story.reasons('e');
    story.with({ muted: true }).run(false);
    story.with({ muted: false }).run(true);
    expect(story.messages()).toEqual(['error:error_threshold', 'triggered:became_true', 'recovered:recovered']);
    onlyOne(story.decidedRun(), became);
  });

  it('that ends a condition is not that of an error which was never told', () => {
    const story = new Story({ errorThreshold: 1 }, { actions: [{ enabled: true, on: ['triggered', 'recovered'] }] });
    story.reasons('t');
    story.with({ muted: true }).run(false);
    story.with({ muted: false }).reasons('ef');
    expect(story.decidedRun().decision.reason).toBe('recovered');
    onlyOne(story.decidedRun(), recovered);
  });

  it('of an earlier version that nobody listened to claims nothing of it that is not on record', () => {
    const story = new Story({ errorThreshold: 1 }, { actions: [] });
    story.run(true);
    const run = story.decidedRun();
    const { wouldTell: _wouldTell, ...decision } = run.decision;
    onlyOne({ ...run, decision }, null);
  });
});
