/** Grafana OnCall and Grafana Cloud IRM: the settings of an action. */
import { z } from 'zod';
import { atAnyHost, secretAddress, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const grafanaOncallDeclaration = declareChannel({
  type: 'grafana_oncall',
  config: z.strictObject({
    webhookUrl: secretAddress({
      description: 'Of an integration “Formatted webhook”, as Grafana shows it.',
      example: 'https://oncall.example.com/integrations/v1/formatted_webhook/…/',
      isAllowed: atAnyHost(/\/integrations\/v1\/formatted_webhook\/[-_A-Za-z0-9]+\/?$/),
    }),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['webhookUrl'],
  addresses: ['webhookUrl'],
  templates: ['title', 'text'],
});
