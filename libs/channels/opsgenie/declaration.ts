/** Opsgenie, and Jira Service Management, which takes its place: the settings of an action. */
import { z } from 'zod';
import { byKind, secretWord, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const opsgenieDeclaration = declareChannel({
  type: 'opsgenie',
  config: z.strictObject({
    apiKey: secretWord('Of an integration “API”.', 100),
    region: z
      .enum(['us', 'eu', 'jsm'])
      .optional()
      .describe(
        'Of the account: `us`, `eu`, or `jsm` for Jira Service Management, to which Opsgenie moves until April 2027; `us`.',
      ),
    priority: byKind(z.enum(['P1', 'P2', 'P3', 'P4', 'P5']), 'By the kind of message; P3.'),
    tags: z.array(z.string().min(1).max(50)).max(20).optional().describe('Up to 20.'),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['apiKey'],
  templates: ['title', 'text'],
});
