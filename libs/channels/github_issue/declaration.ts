/** GitHub issues: the settings of an action. */
import { z } from 'zod';
import { plainWord, secretWord, serverAddress, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const githubIssueDeclaration = declareChannel({
  type: 'github_issue',
  config: z.strictObject({
    repository: plainWord(
      'Where issues are made.',
      /^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/,
      'must be owner/name',
    ),
    token: secretWord('With the permission Issues: write.'),
    serverUrl: serverAddress('The API of a server of your own.', 'https://github.example.com/api/v3').optional(),
    labels: z.array(z.string().min(1).max(50)).max(20).optional().describe('Of each issue.'),
    assignees: z
      .array(z.string().regex(/^[A-Za-z0-9-]{1,39}$/))
      .max(10)
      .optional()
      .describe('Names of people.'),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['token', 'serverUrl'],
  addresses: ['serverUrl'],
  templates: ['title', 'text'],
});
