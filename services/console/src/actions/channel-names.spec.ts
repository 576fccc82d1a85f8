import { describe, expect, it } from '@jest/globals';
import { de } from '../text/de.js';
import { en } from '../text/en.js';
import { channelNameOf } from './channel-names.js';

describe('the name of a channel', () => {
  it('is that of its service, the same in each language', () => {
    expect([en, de].map((texts) => channelNameOf('msteams', (key) => texts[key]))).toEqual([
      'Microsoft Teams',
      'Microsoft Teams',
    ]);
  });

  it('is a word of the language where it is no service', () => {
    expect([en, de].map((texts) => channelNameOf('custom', (key) => texts[key]))).toEqual([
      'Code of your own',
      'Eigener Code',
    ]);
  });

  it.each(['pigeon', 'constructor'])('is its type where the console does not know it: %s', (type) => {
    expect(channelNameOf(type, (key) => en[key])).toBe(type);
  });
});
