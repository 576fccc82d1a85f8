/** Jira: the settings of an action. */
import { z } from 'zod';
import { plainWord, secretWord, serverAddress, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const jiraDeclaration = declareChannel({
  type: 'jira',
  config: z.strictObject({
    serverUrl: serverAddress('The site, of the cloud or a data center of your own.', 'https://example.atlassian.net'),
    email: z.email().max(254).optional().describe('Of the account, in the cloud; a data center has none.'),
    apiToken: secretWord('Of the account; without `email` it is a personal access token of a data center.', 1_000),
    projectKey: plainWord(
      'Where issues are made.',
      /^[A-Z][A-Z0-9_]{0,49}$/,
      'must be the key of a project such as OPS',
    ),
    issueType: z.string().min(1).max(60).optional().describe('Its name; `Task` where it is left out.'),
    labels: z
      .array(z.string().regex(/^\S{1,255}$/, { error: 'must be a word' }))
      .max(20)
      .optional()
      .describe('Of each issue.'),
    closeTransition: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe(
        'The name of the transition that closes an issue; the first into a status of the category done where it is left out.',
      ),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['serverUrl', 'email', 'apiToken'],
  addresses: ['serverUrl'],
  templates: ['title', 'text'],
});
