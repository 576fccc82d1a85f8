/** WhatsApp, by the Cloud API: the settings of an action. */
import { z } from 'zod';
import { phoneNumber, plainWord, secretWord, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const whatsappDeclaration = declareChannel({
  type: 'whatsapp',
  config: z.strictObject({
    phoneNumberId: plainWord('The id of the number that sends.', /^[0-9]{5,20}$/, 'must be an id of digits'),
    token: secretWord('Of a system user, which does not end after a day.', 1_000),
    apiVersion: plainWord('Of the Graph API.', /^v[0-9]{2}\.[0-9]$/, 'must be a version such as v23.0').optional(),
    to: phoneNumber.describe('Who gets it.'),
    templateName: plainWord(
      'An approved template with two variables in its body: headline and text.',
      /^[a-z0-9_]{1,512}$/,
      'must be the name of a template: a-z 0-9 _',
    ),
    pictureTemplateName: plainWord(
      'An approved template that has an image as its header besides, for messages with a chart; without one none goes with them.',
      /^[a-z0-9_]{1,512}$/,
      'must be the name of a template: a-z 0-9 _',
    ).optional(),
    language: plainWord('Of the template.', /^[a-z]{2,3}(?:_[A-Z]{2})?$/, 'must be a code such as en_US'),
    title: titleTemplate,
    text: z
      .string()
      .min(1)
      .max(5_000)
      .optional()
      .describe('Template: the text; the message and a link where it is left out.'),
  }),
  sealed: ['token', 'to'],
  templates: ['title', 'text'],
});
