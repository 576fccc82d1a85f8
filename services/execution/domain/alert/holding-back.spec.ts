import { describe, expect, it } from '@jest/globals';
import type { Policy } from '#contracts/policy';
import { Story } from './alert.kit.js';
import type { AlertContext } from './step.js';

const triggersOnly: Partial<AlertContext> = { actions: [{ enabled: true, on: ['triggered', 'error'] }] };
const unheard: Partial<AlertContext> = { actions: [] };

describe('a message that is held back', () => {
  const ways: readonly (readonly [string, Partial<Policy>, Partial<AlertContext>])[] = [
    ['muted', { muted: true }, {}],
    ['dependency_down', {}, { isDependencyDown: true }],
    ['quiet_hours', { quietHours: [{ days: ['sat'], from: '00:00', to: '24:00', timezone: 'UTC' }] }, {}],
  ];
  const over: Partial<Policy> = { muted: false, quietHours: [] };
  const up: Partial<AlertContext> = { isDependencyDown: false };

  it.each(ways)('by %s is notified once afterwards, if it still holds', (reason, policy, more) => {
    const story = new Story(policy, more);
    expect(story.reasons('ftt')).toEqual(['not_true', reason, reason]);
    expect(story.with(over, up).reasons('tt')).toEqual(['became_true', 'still_true']);
    expect(story.decided[3]?.intents[0]?.transition).toEqual({ kind: 'condition', from: 'unknown', to: 'true' });
    expect(story.decided[3]?.decision.transition).toBeNull();
  });

  it.each(ways)('by %s is never notified where it is over by then, nor is its end', (reason, policy, more) => {
    const story = new Story(policy, more);
    expect(story.reasons('ftf')).toEqual(['not_true', reason, 'not_true']);
    expect(story.with(over, up).reasons('f')).toEqual(['not_true']);
    expect(story.messages()).toEqual([]);
  });

  it.each(ways)('by %s and ends a notified episode is notified afterwards', (reason, policy, more) => {
    const story = new Story();
    story.reasons('t');
    expect(story.with(policy, more).reasons('ff')).toEqual([reason, reason]);
    expect(story.with(over, up).reasons('ff')).toEqual(['recovered', 'not_true']);
  });

  it.each(ways)('by %s is nothing where the condition is again as it was notified', (reason, policy, more) => {
    const story = new Story();
    story.reasons('t');
    expect(story.with(policy, more).reasons('ft')).toEqual([reason, 'still_true']);
    expect(story.with(over, up).reasons('t')).toEqual(['still_true']);
  });

  it.each(ways)('by %s and is of health is notified afterwards, both ways', (reason, policy, more) => {
    const story = new Story({ ...policy, errorThreshold: 1 }, more);
    expect(story.reasons('ee')).toEqual([reason, reason]);
    expect(story.with(over, up).reasons('ee')).toEqual(['error_threshold', 'not_changed']);
    expect(story.with(policy, more).reasons('ff')).toEqual([reason, reason]);
    expect(story.with(over, up).reasons('ff')).toEqual(['recovered', 'not_true']);
    expect(story.messages()).toEqual(['error:error_threshold', 'recovered:recovered']);
  });

  it.each(ways)('by %s and is an error that is over by then is never notified', (reason, policy, more) => {
    const story = new Story({ ...policy, errorThreshold: 1 }, more);
    expect(story.reasons('ef')).toEqual([reason, 'not_true']);
    story.with(over, up).reasons('f');
    expect(story.messages()).toEqual([]);
  });

  it('and is the end of an error is nothing where the error is back', () => {
    const story = new Story({ errorThreshold: 1 });
    story.reasons('e');
    expect(story.with({ muted: true }).reasons('fe')).toEqual(['muted', 'not_changed']);
    expect(story.with({ muted: false }).reasons('ef')).toEqual(['not_changed', 'recovered']);
    expect(story.messages()).toEqual(['error:error_threshold', 'recovered:recovered']);
  });

  it('is not one where no action subscribes to the recovery: the next trigger is notified', () => {
    const story = new Story({}, triggersOnly);
    story.reasons('t');
    expect(story.with({ muted: true }).reasons('f')).toEqual(['no_actions']);
    expect(story.with({ muted: false }).reasons('t')).toEqual(['became_true']);
  });
});

describe('an hourly cap', () => {
  it('lets so many messages through in any 60 minutes, and the one that still holds after that', () => {
    const story = new Story({ maxPerHour: 2 });
    expect(story.reasons('tftt')).toEqual(['became_true', 'recovered', 'rate_capped', 'rate_capped']);
    expect(story.later(3_300).reasons('t')).toEqual(['rate_capped']);
    expect(story.reasons('tt')).toEqual(['became_true', 'still_true']);
    expect(story.alert.notifiedAt).toHaveLength(2);
  });

  it('counts each of two messages of one run, and notifies of the other later', () => {
    const story = new Story({ maxPerHour: 2, errorThreshold: 1 });
    const [, both] = [story.run(null), story.run(true)];
    expect(both.intents.map(({ kind }) => kind)).toEqual(['recovered']);
    expect(both.decision).toMatchObject({ notify: true, reason: 'recovered' });
    expect(story.later(3_600).reasons('t')).toEqual(['became_true']);
  });
});

describe('a message to which no action subscribes', () => {
  it('is decided once as no_actions, and its episode has no recovery', () => {
    expect(new Story({}, unheard).reasons('ttff')).toEqual(['no_actions', 'still_true', 'not_true', 'not_true']);
    const recoveriesOnly = { actions: [{ enabled: true, on: ['recovered' as const] }] };
    expect(new Story({}, recoveriesOnly).reasons('tf')).toEqual(['no_actions', 'not_true']);
  });

  it('goes out once an action does, while the condition holds, and its end is told then', () => {
    const story = new Story({}, unheard);
    expect(story.reasons('tt')).toEqual(['no_actions', 'still_true']);
    const heard = story.with({}, { actions: [{ enabled: true, on: ['triggered', 'recovered'] }] });
    expect(heard.reasons('ttf')).toEqual(['became_true', 'still_true', 'recovered']);
    const errorsOnly = new Story({}, unheard);
    errorsOnly.run(true);
    const others = errorsOnly.with({}, { actions: [{ enabled: true, on: ['error', 'recovered'] }] });
    expect(others.reasons('tf')).toEqual(['still_true', 'not_true']);
  });

  it('and is an error is told by the next failed run once an action listens, once, and its end is told then', () => {
    for (const nobody of [{ actions: [{ enabled: true, on: ['triggered' as const] }] }, unheard]) {
      const story = new Story({ errorThreshold: 2 }, nobody);
      expect(story.reasons('eeee')).toEqual(['error_below_threshold', 'no_actions', 'not_changed', 'not_changed']);
      story.with({}, { actions: [{ enabled: true, on: ['triggered', 'error', 'recovered'] }] });
      expect(story.reasons('eeef')).toEqual(['error_threshold', 'not_changed', 'not_changed', 'recovered']);
      expect(story.decided[4]).toMatchObject({
        decision: { transition: null },
        intents: [{ kind: 'error', dedupKey: 'health:1', transition: { kind: 'health', from: 'ok', to: 'error' } }],
      });
      expect(story.messages()).toEqual(['error:error_threshold', 'recovered:recovered']);
    }
  });

  it('and is an error is told where its action is turned on again', () => {
    const story = new Story({ errorThreshold: 1 }, { actions: [{ enabled: false, on: ['error'] }] });
    expect(story.reasons('ee')).toEqual(['no_actions', 'not_changed']);
    expect(story.with({}, { actions: [{ enabled: true, on: ['error'] }] }).reasons('ee')).toEqual([
      'error_threshold',
      'not_changed',
    ]);
  });

  it('and is an error waits for the silence to be over where an action listens by then', () => {
    const story = new Story({ errorThreshold: 1 }, unheard);
    expect(story.reasons('e')).toEqual(['no_actions']);
    const heard = { actions: [{ enabled: true, on: ['error' as const] }] };
    expect(story.with({ muted: true }, heard).reasons('ee')).toEqual(['muted', 'muted']);
    expect(story.with({ muted: false }).reasons('ee')).toEqual(['error_threshold', 'not_changed']);
  });

  it('and is an error that is over by then is never told, nor is its end; the next one is', () => {
    const story = new Story({ errorThreshold: 1 }, unheard);
    expect(story.reasons('ef')).toEqual(['no_actions', 'not_true']);
    story.with({}, { actions: [{ enabled: true, on: ['error', 'recovered'] }] });
    expect(story.reasons('fe')).toEqual(['not_true', 'error_threshold']);
    expect(story.decided.at(-1)?.intents).toMatchObject([{ dedupKey: 'health:2' }]);
  });

  it('and is a refusal of this instance is told later, too, as what it is by then', () => {
    const story = new Story({}, unheard);
    expect(story.run(null, { isBlocked: true }).decision.reason).toBe('no_actions');
    story.with({}, { actions: [{ enabled: true, on: ['error'] }] });
    expect(story.run(null, { isBlocked: true }).intents).toMatchObject([
      { kind: 'error', transition: { to: 'blocked' } },
    ]);
  });

  it('and is an error that an earlier version told stays told', () => {
    const story = new Story({ errorThreshold: 1 });
    story.reasons('e');
    const { healthHeld: _healthHeld, ...stored } = story.alert;
    story.alert = stored;
    expect(story.reasons('ee')).toEqual(['not_changed', 'not_changed']);
  });

  it('and is the end of an error leaves a decision that says so, with the transition of health', () => {
    const story = new Story({ errorThreshold: 1 }, triggersOnly);
    expect(story.reasons('tet')).toEqual(['became_true', 'error_threshold', 'no_actions']);
    expect(story.decided[2]?.decision.transition).toEqual({ kind: 'health', from: 'error', to: 'ok' });
    expect(story.reasons('t')).toEqual(['still_true']);
  });

  it('stays unsent with force, even where another one of that run is sent', () => {
    const story = new Story({ errorThreshold: 1 }, { actions: [{ enabled: true, on: ['error', 'recovered'] }] });
    story.run(null);
    const { decision, intents } = story.run(true, { trigger: 'manual', force: true });
    expect(decision).toMatchObject({ notify: true, reason: 'recovered' });
    expect(intents.map(({ kind }) => kind)).toEqual(['recovered']);
  });

  it('stays unsent with force', () => {
    const story = new Story({}, unheard);
    const { decision, intents } = story.run(true, { trigger: 'manual', force: true });
    expect([decision, intents]).toEqual([
      {
        notify: false,
        reason: 'no_actions',
        transition: { kind: 'condition', from: 'unknown', to: 'true' },
        wouldTell: { kind: 'triggered', reason: 'forced' },
      },
      [],
    ]);
  });
});

describe('a forced run', () => {
  const force = { trigger: 'manual', force: true } as const;

  it.each([
    ['muted', { muted: true }, {}],
    ['a cap', { maxPerHour: 1 }, {}],
    ['confirmations', { confirmations: 5 }, {}],
    ['a dependency', {}, { isDependencyDown: true }],
    ['a pause', {}, { paused: true }],
  ])('that finds true notifies in spite of %s', (_what, policy, more) => {
    const story = new Story({ ...policy, errorThreshold: 1 }, more);
    if ('maxPerHour' in policy) story.run(null);
    expect(story.run(true, force).decision).toMatchObject({ notify: true, reason: 'forced' });
  });

  it('opens the episode that was held back: it is not notified again, and its end is', () => {
    const story = new Story({ muted: true });
    story.run(true);
    story.run(true, force);
    expect(story.with({ muted: false }).reasons('tf')).toEqual(['still_true', 'recovered']);
  });
});

describe('a task that is paused', () => {
  it('decides so on each run by hand that has something to say, and says it once it is active', () => {
    const story = new Story({ errorThreshold: 1 }, { paused: true });
    expect(story.reasons('fttee')).toEqual(['not_true', 'paused', 'paused', 'paused', 'paused']);
    expect(story.with({}, { paused: false, codeRevision: 1 }).reasons('et')).toEqual([
      'error_threshold',
      'became_true',
    ]);
    expect(story.messages()).toEqual(['error:error_threshold', 'triggered:became_true', 'recovered:recovered']);
  });
});

describe('a run that this instance refuses', () => {
  const refused = { isBlocked: true };
  const healths = ({ decided }: Story): readonly string[] => decided.map(({ alert }) => alert.health);

  it('makes health blocked at once and is told as an error, whatever the threshold', () => {
    const story = new Story({ errorThreshold: 100 });
    const first = story.run(null, refused);
    expect(first.decision).toEqual({
      notify: true,
      reason: 'error_threshold',
      transition: { kind: 'health', from: 'ok', to: 'blocked' },
    });
    expect(first.intents).toMatchObject([{ kind: 'error', transition: { from: 'ok', to: 'blocked' } }]);
    expect([story.run(null, refused).decision.reason, ...story.reasons('f')]).toEqual(['not_changed', 'recovered']);
    expect(story.decided.at(-1)?.intents).toMatchObject([{ transition: { from: 'blocked', to: 'ok' } }]);
    expect(healths(story)).toEqual(['blocked', 'blocked', 'ok']);
  });

  it('stays blocked through errors of other kinds below the threshold, and becomes error at it, told once', () => {
    const story = new Story({ errorThreshold: 3 });
    story.run(null, refused);
    expect(story.reasons('eeft')).toEqual(['error_below_threshold', 'not_changed', 'recovered', 'became_true']);
    expect(healths(story)).toEqual(['blocked', 'blocked', 'error', 'ok', 'ok']);
    expect(story.decided[2]?.decision.transition).toEqual({ kind: 'health', from: 'blocked', to: 'error' });
  });

  it('after errors that were told makes health blocked without another message', () => {
    const story = new Story({ errorThreshold: 1 });
    story.reasons('e');
    const { decision } = story.run(null, refused);
    expect(decision).toEqual({
      notify: false,
      reason: 'not_changed',
      transition: { kind: 'health', from: 'error', to: 'blocked' },
    });
    story.reasons('f');
    expect(story.messages()).toEqual(['error:error_threshold', 'recovered:recovered']);
  });

  it('is told once the silence is over that held it back', () => {
    const story = new Story({ muted: true });
    expect(story.run(null, refused).decision.reason).toBe('muted');
    story.with({ muted: false });
    expect(story.run(null, refused).intents).toMatchObject([{ kind: 'error', transition: { to: 'blocked' } }]);
  });
});
