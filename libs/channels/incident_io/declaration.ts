/** incident.io: the settings of an action. */
import { z } from 'zod';
import { plainWord, secretWord, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const incidentIoDeclaration = declareChannel({
  type: 'incident_io',
  config: z.strictObject({
    alertSourceId: plainWord(
      'The id of an alert source “HTTP”.',
      /^[0-9A-Za-z]{20,40}$/,
      'must be the id at the end of the address of the alert source',
    ),
    token: secretWord('Of the alert source.'),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['token'],
  templates: ['title', 'text'],
});
