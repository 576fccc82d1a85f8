import { describe, expect, it } from '@jest/globals';
import { hasVariables, mapTexts, withoutVariables } from './text-variables.js';

describe('texts of a configuration file', () => {
  it('say of each `${` that it is no variable, also where one says so already', () => {
    expect(withoutVariables({ a: ['${X}', '$${X}', '$$${X}', '${', '$', 7, null], '${X}': 'x' })).toEqual({
      a: ['$${X}', '$$${X}', '$$$${X}', '$${', '$', 7, null],
      '${X}': 'x',
    });
  });

  it('are not those of code', () => {
    const code = { evaluationFunction: 'return `${1}`', actions: [{ config: { code: '${2}' } }] };
    expect([hasVariables(code), withoutVariables(code)]).toEqual([false, code]);
    expect([hasVariables({ ...code, name: '${3}' }), hasVariables([{ name: '$3 {}' }])]).toEqual([true, false]);
  });

  it('are changed with their place', () => {
    expect(mapTexts({ a: [{ b: 'x' }, 'y'] }, (text, path) => `${path}=${text}`)).toEqual({
      a: [{ b: 'a[0].b=x' }, 'a[1]=y'],
    });
  });
});
