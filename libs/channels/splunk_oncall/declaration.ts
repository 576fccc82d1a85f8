/** Splunk On-Call (VictorOps): the settings of an action. */
import { z } from 'zod';
import { byKind, plainWord, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const splunkOncallDeclaration = declareChannel({
  type: 'splunk_oncall',
  config: z.strictObject({
    apiKey: z
      .string()
      .regex(/^(?:[-A-Za-z0-9]{20,64}|\*{8})$/, { error: 'must be the key in the address of the integration “REST”' })
      .meta({ writeOnly: true, description: 'In the address of the integration “REST”, before the routing key.' }),
    routingKey: plainWord(
      'Who is called.',
      /^(?!\$)[-_.A-Za-z0-9]{1,100}$/,
      'must be a routing key, and not $routing_key',
    ),
    messageType: byKind(
      z.enum(['CRITICAL', 'WARNING', 'INFO']),
      'By the kind of message; `WARNING`, of errors `CRITICAL`.',
    ),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['apiKey'],
  templates: ['title', 'text'],
});
