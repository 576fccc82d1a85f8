/** MQTT: the settings of an action. */
import { z } from 'zod';
import { peerAddress, secretText, tlsFaultOf, tlsFields, textTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const mqttDeclaration = declareChannel({
  type: 'mqtt',
  config: z
    .strictObject({
      serverUrl: peerAddress(
        ['mqtt', 'mqtts'],
        'The broker: `mqtts://host:8883` or `mqtt://host:1883`.',
        'mqtts://broker.example.com:8883',
      ),
      ...tlsFields,
      version: z
        .enum(['5', '3.1.1'])
        .optional()
        .describe('Of the protocol; `5`, by which a broker says when it does not take a message.'),
      username: z.string().min(1).max(200).optional().describe('With `password`.'),
      password: secretText('Of `username`.').optional(),
      topic: z
        .string()
        .min(1)
        .max(500)
        .regex(/^[^+#\u0000]*$/, { error: 'must not hold + or #' })
        .describe('Template: the topic; signs of a value that mean something in a topic become _.'),
      qos: z
        .union([z.literal(0), z.literal(1), z.literal(2)])
        .optional()
        .describe('1 where it is left out.'),
      retain: z
        .boolean()
        .optional()
        .describe('Whether the broker keeps what was triggered or is over for those that come later.'),
      text: textTemplate.describe('Template: the message; without it the event as JSON, as webhooks send it.'),
    })
    .refine(({ username, password }) => password === undefined || username !== undefined, {
      error: 'must have a username',
      path: ['password'],
    })
    .superRefine((config, context) => {
      const fault = tlsFaultOf(config, 'mqtts');
      if (fault !== null) context.addIssue({ code: 'custom', path: ['clientCertificate'], message: fault });
    }),
  sealed: ['serverUrl', 'ca', 'clientCertificate', 'clientKey', 'username', 'password'],
  addresses: ['serverUrl'],
  templates: ['topic', 'text'],
});
