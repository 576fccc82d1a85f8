/** Microsoft Teams: the settings of an action. */
import { z } from 'zod';
import { secretAddress, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

const hosts = /(?:^|\.)(?:logic\.azure\.com|environment\.api\.powerplatform\.com)$/;
const connectors = /(?:^|\.)(?:webhook\.office\.com|outlook\.office\.com|outlook\.office365\.com)$/;

export const msteamsDeclaration = declareChannel({
  type: 'msteams',
  config: z.strictObject({
    /** Its signature covers the query: it is sent as it is. */
    workflowUrl: secretAddress({
      description: 'Of a workflow “When a Teams webhook request is received”, open to anyone.',
      example: 'https://….environment.api.powerplatform.com/powerautomate/automations/direct/workflows/…',
      isAllowed: ({ protocol, hostname, search }) =>
        protocol === 'https:' && hosts.test(hostname) && search.includes('sig='),
      retired: {
        is: ({ hostname }) => connectors.test(hostname),
        error:
          'is of an Office 365 connector, which Microsoft has switched off: make a workflow “When a Teams webhook request is received” and give its address',
      },
    }),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['workflowUrl'],
  addresses: ['workflowUrl'],
  templates: ['title', 'text'],
});
