/** Home Assistant: the settings of an action. */
import { z } from 'zod';
import {
  atAnyHost,
  plainWord,
  secretAddress,
  secretWord,
  serverAddress,
  textTemplate,
  titleTemplate,
} from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const homeassistantDeclaration = declareChannel({
  type: 'homeassistant',
  config: z
    .strictObject({
      serverUrl: serverAddress('The instance.', 'http://homeassistant.local:8123').optional(),
      token: secretWord('With `serverUrl`: a long-lived access token.', 1_000).optional(),
      service: plainWord(
        'With `serverUrl`: a service of the domain notify such as `mobile_app_phone`, or `persistent_notification`.',
        /^[a-z0-9_]{1,100}$/,
        'must be the name of a service: a-z 0-9 _',
      ).optional(),
      webhookUrl: secretAddress({
        description: 'In place of a server: the trigger “Webhook” of an automation.',
        example: 'http://homeassistant.local:8123/api/webhook/…',
        isAllowed: atAnyHost(/\/(?:api\/webhook\/[-_A-Za-z0-9]+|[-_A-Za-z0-9=]{40,})$/),
      }).optional(),
      title: titleTemplate,
      text: textTemplate,
    })
    .refine(({ serverUrl, webhookUrl }) => (serverUrl === undefined) !== (webhookUrl === undefined), {
      error: 'must be given, or webhookUrl in its place',
      path: ['serverUrl'],
    })
    .refine(
      ({ serverUrl, token, service }) =>
        [token, service].every((one) => (one === undefined) === (serverUrl === undefined)),
      {
        error: 'must be given with token and service',
        path: ['serverUrl'],
      },
    ),
  sealed: ['serverUrl', 'token', 'webhookUrl'],
  addresses: ['serverUrl', 'webhookUrl'],
  templates: ['title', 'text'],
});
