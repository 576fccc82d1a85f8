/** The operation that says which actions there are. */
import { z } from 'zod';
import { actionType } from '#contracts/action';
import { pageParameters } from '#http/parameters';
import { route } from '#http/route';

const actionTypeAnswer = z.object({
  type: actionType.describe('The channel.'),
  configSchema: z
    .record(z.string(), z.json())
    .describe('JSON Schema (2020-12) of `config`; secrets are `writeOnly` and come back masked.'),
  generated: z.array(z.string()).describe('Members of `config` that the service makes where they are left out.'),
  available: z
    .boolean()
    .describe(
      'Whether this instance has what the type needs: `email` needs a mail server, `command` programs that the operator names.',
    ),
});

export const listActionTypes = route({
  method: 'GET',
  path: '/api/action-types',
  operationId: 'listActionTypes',
  summary: 'List the types of actions with the JSON Schema of their config',
  tag: 'Actions',
  access: 'read',
  query: z.strictObject(pageParameters),
  answers: [{ status: 200, description: 'Types.', envelope: 'list', schema: actionTypeAnswer }],
});
