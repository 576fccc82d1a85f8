/** PagerDuty: the settings of an action. */
import { z } from 'zod';
import { byKind, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const pagerdutyDeclaration = declareChannel({
  type: 'pagerduty',
  config: z.strictObject({
    routingKey: z
      .string()
      .regex(/^(?:[A-Za-z0-9]{32}|\*{8})$/, { error: 'must be the 32 letters and digits of an integration key' })
      .meta({ writeOnly: true, description: 'Of an integration “Events API V2” of the service.' }),
    region: z.enum(['us', 'eu']).optional().describe('Of the account; `us` where it is left out.'),
    severity: byKind(
      z.enum(['critical', 'error', 'warning', 'info']),
      'By the kind of message; `warning`, of errors `error`.',
    ),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['routingKey'],
  templates: ['title', 'text'],
});
