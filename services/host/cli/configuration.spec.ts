import { describe, expect, it } from '@jest/globals';
import { configurationSchema } from './configuration-schema.js';
import { changeWords, withVariables } from './configuration.js';

const environment = { TEAM: 'red', EMPTY: '', CODE: 'return false' };

describe('variables in a configuration file', () => {
  it('are replaced in texts, whatever stands around them', () => {
    const value = { a: ['${TEAM}-${TEAM}', 'x${EMPTY}y', 7, null, true], b: { c: '$TEAM {TEAM} $${TEAM}' } };
    expect(withVariables(value, environment)).toEqual({
      a: ['red-red', 'xy', 7, null, true],
      b: { c: '$TEAM {TEAM} ${TEAM}' },
    });
  });

  it('are not looked for in code, which has such places of its own', () => {
    const code = 'return `${CODE}`';
    expect(withVariables({ evaluationFunction: code, actions: [{ config: { code } }] }, environment)).toEqual({
      evaluationFunction: code,
      actions: [{ config: { code } }],
    });
  });

  it('that are not set are refused with their place', () => {
    expect(() => withVariables({ notifications: [{ name: 'a ${NOBODY} b' }] }, environment)).toThrow(
      /^notifications\[0\]\.name needs the environment variable NOBODY/,
    );
  });

  it('are taken as they are, and never looked through again', () => {
    expect(withVariables('${A}', { A: '${B} $& $1' })).toBe('${B} $& $1');
  });
});

describe('a change of a secret', () => {
  it('is told in words, as two masks look alike', () => {
    const [path, mask] = ['actions[0].config.url', '********'];
    expect([
      changeWords({ path, secret: true, from: mask, to: mask }),
      changeWords({ path, secret: true, to: mask }),
      changeWords({ path, secret: true, from: mask }),
      changeWords({ path: 'name', from: 'Pot', to: 'Pan' }),
    ]).toEqual(['changed (secret)', 'added (secret)', 'removed (secret)', '"Pot" → "Pan"']);
  });
});

describe('the schema of a configuration file', () => {
  it('names what an entry needs, and every field of it', () => {
    const schema = JSON.stringify(configurationSchema());
    for (const name of ['evaluationFunction', 'externalKey', 'dependsOn', 'schedule', 'quietHours']) {
      expect(schema).toContain(`"${name}"`);
    }
    expect(schema).toContain('"required":["version","notifications"]');
  });
});
