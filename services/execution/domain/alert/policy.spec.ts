import { describe, expect, it } from '@jest/globals';
import { decisionReason } from '#contracts/policy';
import { runRecorded } from '#contracts/run';
import { Story } from './alert.kit.js';
import type { AlertContext } from './step.js';

const unheard: Partial<AlertContext> = { actions: [] };

describe('the policy every_true', () => {
  it('notifies on every run that finds the condition true, and once of its end', () => {
    const story = new Story({ notifyOn: 'every_true' });
    expect(story.reasons('fttfft')).toEqual([
      'not_true',
      'every_true',
      'every_true',
      'recovered',
      'not_true',
      'every_true',
    ]);
    const keys = story.decided.flatMap(({ intents }) => intents.map(({ dedupKey }) => dedupKey));
    expect(new Set(keys).size).toBe(4);
  });

  it('with a cooldown notifies at most once in that time', () => {
    const story = new Story({ notifyOn: 'every_true', cooldownSeconds: 120 });
    expect(story.reasons('ttttt')).toEqual(['every_true', 'cooldown', 'every_true', 'cooldown', 'every_true']);
  });

  it('waits for confirmations, then notifies on every run', () => {
    const story = new Story({ notifyOn: 'every_true', confirmations: 2 });
    expect(story.reasons('ttt')).toEqual(['awaiting_confirmation', 'every_true', 'every_true']);
  });

  it('decides no_actions on every run to which no action subscribes, and knows of no episode then', () => {
    expect(new Story({ notifyOn: 'every_true' }, unheard).reasons('ttf')).toEqual([
      'no_actions',
      'no_actions',
      'not_true',
    ]);
  });
});

describe('confirmations', () => {
  it('are outcomes in a row: one that differs begins anew', () => {
    const story = new Story({ confirmations: 3 });
    expect(story.reasons('fttftttt')).toEqual([
      'not_true',
      'awaiting_confirmation',
      'awaiting_confirmation',
      'not_true',
      'awaiting_confirmation',
      'awaiting_confirmation',
      'became_true',
      'still_true',
    ]);
  });

  it('leave the condition as it is until there are enough, also on the way back', () => {
    const story = new Story({ recoveryConfirmations: 2 });
    expect(story.reasons('tftff')).toEqual([
      'became_true',
      'awaiting_confirmation',
      'still_true',
      'awaiting_confirmation',
      'recovered',
    ]);
    expect(story.decided.map(({ alert }) => alert.condition)).toEqual(['true', 'true', 'true', 'true', 'false']);
  });

  it('of a first run are needed for true, not for false', () => {
    expect(new Story({ confirmations: 2 }).reasons('tt')).toEqual(['awaiting_confirmation', 'became_true']);
    expect(new Story({ recoveryConfirmations: 2 }).reasons('f')).toEqual(['not_true']);
  });

  it('are neither counted nor ended by a run that failed', () => {
    const story = new Story({ confirmations: 2, errorThreshold: 5 });
    expect(story.reasons('tet')).toEqual(['awaiting_confirmation', 'error_below_threshold', 'became_true']);
  });

  it('begin anew when the code changes', () => {
    const story = new Story({ confirmations: 2 });
    story.reasons('ft');
    expect(story.with({}, { codeRevision: 3 }).reasons('tt')).toEqual(['awaiting_confirmation', 'became_true']);
  });
});

describe('a cooldown', () => {
  it('holds back triggers until it is over, and then notifies what still holds', () => {
    const story = new Story({ cooldownSeconds: 300 });
    expect(story.reasons('tftttt')).toEqual([
      'became_true',
      'recovered',
      'cooldown',
      'cooldown',
      'cooldown',
      'became_true',
    ]);
  });

  it('leaves an episode that it held back to the end without a recovery', () => {
    const story = new Story({ cooldownSeconds: 600 });
    expect(story.reasons('tftff')).toEqual(['became_true', 'recovered', 'cooldown', 'not_true', 'not_true']);
  });

  it('does not hold back recoveries, errors or reminders', () => {
    const story = new Story({ cooldownSeconds: 3_600, reminderSeconds: 60, errorThreshold: 1 });
    expect(story.reasons('ttetf')).toEqual(['became_true', 'reminder', 'error_threshold', 'reminder', 'recovered']);
  });
});

describe('reminders', () => {
  it('come as triggered at each interval while the condition is true', () => {
    const story = new Story({ reminderSeconds: 120 });
    expect(story.reasons('tttttft')).toEqual([
      'became_true',
      'still_true',
      'reminder',
      'still_true',
      'reminder',
      'recovered',
      'became_true',
    ]);
    expect(story.messages().slice(0, 2)).toEqual(['triggered:became_true', 'triggered:reminder']);
  });

  it('do not come for an episode that was not notified', () => {
    const story = new Story({ reminderSeconds: 60, muted: true });
    expect(story.reasons('ttt')).toEqual(['muted', 'muted', 'muted']);
  });

  it('that are turned on during an episode count from the first run on', () => {
    const story = new Story();
    story.reasons('tt');
    expect(story.later(7_200).with({ reminderSeconds: 120 }).reasons('ttt')).toEqual([
      'still_true',
      'still_true',
      'reminder',
    ]);
  });

  it('that were held back come once afterwards', () => {
    const story = new Story({ reminderSeconds: 60 });
    story.reasons('t');
    expect(story.with({ muted: true }).reasons('ttt')).toEqual(['muted', 'muted', 'muted']);
    expect(story.with({ muted: false, reminderSeconds: 120 }).reasons('tt')).toEqual(['reminder', 'still_true']);
  });

  it('to which no action subscribes any more are decided once each', () => {
    const story = new Story({ reminderSeconds: 120 });
    story.reasons('t');
    expect(story.with({}, unheard).reasons('tttt')).toEqual(['still_true', 'no_actions', 'still_true', 'no_actions']);
  });

  it('do not come on an outcome that may end the episode', () => {
    const story = new Story({ reminderSeconds: 60, recoveryConfirmations: 3 });
    expect(story.reasons('tfft')).toEqual([
      'became_true',
      'awaiting_confirmation',
      'awaiting_confirmation',
      'reminder',
    ]);
  });
});

describe('flapping', () => {
  it('begins at half a window of changes, is over at a quarter, and is notified by the outcome that stays', () => {
    const story = new Story({ flapWindow: 8 });
    expect(story.reasons('ftftft').map((reason, index) => [reason, story.decided[index]?.alert.flapping])).toEqual([
      ['not_true', undefined],
      ['became_true', undefined],
      ['recovered', undefined],
      ['became_true', undefined],
      ['flapping', true],
      ['flapping', true],
    ]);
    expect(story.decided[4]?.decision.transition).toEqual({ kind: 'condition', from: 'true', to: 'flapping' });
    // The last message said true. With two changes in eight outcomes it is over, and still true: there is nothing to say.
    expect(story.reasons('ttttt')).toEqual(['flapping', 'flapping', 'flapping', 'flapping', 'still_true']);
    expect(story.decided.at(-1)?.decision.transition).toEqual({ kind: 'condition', from: 'flapping', to: 'true' });
  });

  it('that ends with another condition than the last one notified is notified once', () => {
    const story = new Story({ flapWindow: 4 });
    expect(story.reasons('tft')).toEqual(['became_true', 'recovered', 'flapping']);
    expect(story.reasons('tttt')).toEqual(['flapping', 'became_true', 'still_true', 'still_true']);
    expect(story.messages()).toEqual(['triggered:became_true', 'recovered:recovered', 'triggered:became_true']);
  });

  it('that ends in the quiet is notified when that is over', () => {
    const story = new Story({ flapWindow: 4 });
    story.reasons('tft');
    expect(story.with({ muted: true }).reasons('tttt')).toEqual(['flapping', 'muted', 'muted', 'muted']);
    expect(story.with({ muted: false }).reasons('tt')).toEqual(['became_true', 'still_true']);
  });

  it('has two bounds: between them it stays as it is', () => {
    const begun = new Story({ flapWindow: 8 });
    begun.reasons('ftftf');
    expect(begun.alert.flapping).toBe(true);
    begun.reasons('fff');
    expect(begun.alert).toMatchObject({ outcomes: 'ftftffff', flapping: true });
    begun.reasons('f');
    expect(begun.alert).toMatchObject({ outcomes: 'tftfffff', flapping: true });
    begun.reasons('f');
    expect([begun.alert.outcomes, begun.alert.flapping]).toEqual(['ftffffff', undefined]);
    const calm = new Story({ flapWindow: 8 });
    calm.reasons('ftfttttt');
    expect(calm.alert.flapping).toBeUndefined();
  });

  it('holds back the condition alone, never errors', () => {
    const story = new Story({ flapWindow: 4, errorThreshold: 1 });
    story.reasons('tft');
    expect(story.reasons('e')).toEqual(['error_threshold']);
    const { decision, intents } = story.run(false);
    expect([decision.reason, intents.map(({ kind }) => kind)]).toEqual(['recovered', ['recovered']]);
  });

  it('is forgotten when the code changes or the window is taken away', () => {
    const story = new Story({ flapWindow: 4 });
    story.reasons('tft');
    const edited = new Story({ flapWindow: 4 });
    edited.alert = story.alert;
    expect(edited.later(600).with({}, { codeRevision: 2 }).reasons('t')).toEqual(['became_true']);
    expect(story.with({ flapWindow: 0 }).reasons('t')).toEqual(['became_true']);
    expect(story.alert).not.toHaveProperty('outcomes');
  });
});

describe('what a decision records', () => {
  const stored = ({ alert, decided }: Story): string =>
    JSON.stringify(runRecorded.schema.shape.alert.parse(decided.at(-1)?.alert ?? alert));

  it('of a task that uses only the first settings holds the first fields', () => {
    const story = new Story();
    story.reasons('tteeeeftffe');
    expect(Object.keys(JSON.parse(stored(story)) as object)).toEqual([
      'condition',
      'told',
      'health',
      'consecutiveErrors',
      'episode',
      'healthEpisode',
      'healthTold',
      'codeRevision',
      'lastSlot',
      'recentRuns',
      'previous',
      'state',
    ]);
  });

  it('stays small with every setting in use', () => {
    const story = new Story({ flapWindow: 100, maxPerHour: 100, notifyOn: 'changed', cooldownSeconds: 1 });
    for (let run = 0; run < 200; run += 1) story.later(-50).run(run % 7 < 4, { values: { value: 'x'.repeat(run) } });
    expect(stored(story).length).toBeLessThan(5_000);
  });

  it('leaves nothing behind of settings that were taken away', () => {
    const story = new Story({ cooldownSeconds: 60, reminderSeconds: 60, maxPerHour: 9, flapWindow: 4 });
    story.reasons('ttt');
    story.with({ cooldownSeconds: 0, reminderSeconds: 0, maxPerHour: 0, flapWindow: 0 }).reasons('t');
    const names = Object.keys(story.alert);
    expect(['triggeredAt', 'notifiedAt', 'outcomes', 'flapping'].filter((name) => names.includes(name))).toEqual([]);
  });
});

describe('every reason of a decision', () => {
  it('is reached by some run', () => {
    const stories = [
      new Story({ reminderSeconds: 60, errorThreshold: 2 }),
      new Story({ notifyOn: 'every_true', cooldownSeconds: 90 }),
      new Story({ notifyOn: 'changed', confirmations: 2 }),
      new Story({ flapWindow: 4, maxPerHour: 1 }),
      new Story({ muted: true }),
      new Story({}, { paused: true }),
      new Story({}, { isDependencyDown: true }),
      new Story({}, unheard),
      new Story({ quietHours: [{ days: ['sat'], from: '00:00', to: '24:00', timezone: 'UTC' }] }),
    ];
    for (const story of stories) story.reasons('tttffefteetft');
    const [first] = stories;
    first?.run(false);
    first?.run(true, { trigger: 'manual', dryRun: true });
    new Story().run(true);
    const capped = stories[3];
    capped?.with({ flapWindow: 0 }).reasons('ft');
    const forced = new Story({ muted: true });
    forced.run(true, { trigger: 'manual', force: true });
    const still = new Story();
    still.reasons('tt');
    const reached = new Set(
      [...stories, forced, still].flatMap(({ decided }) => decided.map(({ decision }) => decision.reason)),
    );
    expect(decisionReason.options.filter((reason) => !reached.has(reason))).toEqual([]);
  });
});
