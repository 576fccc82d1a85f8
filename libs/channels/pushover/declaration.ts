/** Pushover: the settings of an action. */
import { z } from 'zod';
import { byKind, plainWord, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

const key = (description: string) =>
  z
    .string()
    .regex(/^(?:[A-Za-z0-9]{30}|\*{8})$/, { error: 'must be a key of 30 letters and digits' })
    .meta({ writeOnly: true, description });

export const pushoverDeclaration = declareChannel({
  type: 'pushover',
  config: z.strictObject({
    appToken: key('Of the application.'),
    userKey: key('Of the user or the group.'),
    device: plainWord('One of the user’s devices.', /^[A-Za-z0-9_-]{1,25}$/, 'must be the name of a device').optional(),
    sound: plainWord('The sound.', /^[A-Za-z0-9_-]{1,50}$/, 'must be the name of a sound').optional(),
    priority: byKind(
      z.int().min(-2).max(2),
      'From -2 to 2, by the kind of message; 2 repeats every minute for an hour, until somebody acknowledges it or it is over.',
    ),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['appToken', 'userKey'],
  templates: ['title', 'text'],
});
