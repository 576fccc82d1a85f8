/** Pushbullet: the settings of an action. */
import { z } from 'zod';
import { plainWord, secretWord, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const pushbulletDeclaration = declareChannel({
  type: 'pushbullet',
  config: z.strictObject({
    token: secretWord('An access token of the account.', 100),
    deviceId: plainWord(
      'One of the account’s devices; all where it is left out.',
      /^[A-Za-z0-9]{5,50}$/,
      'must be the id of a device',
    ).optional(),
    channelTag: plainWord(
      'In place of a device: a channel of the account.',
      /^[a-z0-9_-]{1,100}$/,
      'must be the tag of a channel',
    ).optional(),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['token'],
  templates: ['title', 'text'],
});
