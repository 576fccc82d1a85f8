/** AWS SNS: the settings of an action. */
import { z } from 'zod';
import { plainWord, secretWord, serverAddress, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const awsSnsDeclaration = declareChannel({
  type: 'aws_sns',
  config: z.strictObject({
    topicArn: plainWord(
      'The topic; its region is in it.',
      /^arn:aws(?:-cn|-us-gov)?:sns:[a-z0-9-]{5,30}:[0-9]{12}:[A-Za-z0-9_-]{1,256}(?:\.fifo)?$/,
      'must be such as arn:aws:sns:eu-central-1:123456789012:topic',
    ),
    accessKeyId: plainWord(
      'Of a user that may publish to the topic.',
      /^[A-Z0-9]{16,128}$/,
      'must be the id of an access key',
    ),
    secretAccessKey: secretWord('Of the access key.', 200),
    sessionToken: secretWord('Of a key for a time.', 4_096).optional(),
    serverUrl: serverAddress('In place of AWS itself.', 'http://localhost:4566').optional(),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['secretAccessKey', 'sessionToken', 'serverUrl'],
  addresses: ['serverUrl'],
  templates: ['title', 'text'],
});
