import { describe, expect, it } from '@jest/globals';
import { changesOf } from './message.js';
import { aNotification } from './notification.kit.js';

describe('what a message says of values', () => {
  it.each(['constructor', 'toString'])('holds one called %s that was not there before', (name) => {
    const { context } = aNotification();
    const execution = { ...context.execution, values: { [name]: 5 } };
    expect(changesOf({ ...context, execution, before: { price: 4 } })).toEqual([{ name, before: null, after: '5' }]);
  });
});
