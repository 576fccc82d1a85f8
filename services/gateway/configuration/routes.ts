/** The operations on the whole configuration of an organisation. */
import { z } from 'zod';
import { idSchema, jsonObject } from '#contracts/common';
import { route } from '#http/route';
import { taskWarning } from '../task-warnings.js';
import { configuration, literalTexts } from './configuration.js';

const flag = z.enum(['true', 'false']).optional().meta({ example: 'false' });
const planned = z.object({
  externalKey: z.string().describe('The key, or the id where there is none.'),
  id: idSchema('ntf').describe('Of the task.'),
});
const changes = z.array(
  z.object({
    path: z.string().describe('Such as `policy.cooldownSeconds`.'),
    secret: z
      .literal(true)
      .optional()
      .describe('What differs is a secret: `from` and `to` are masks where they are there.'),
    from: z.json().optional().describe('Absent: it was not there.'),
    to: z.json().optional().describe('Absent: it is not there any more.'),
  }),
);

/** Of what is written. */
const written = planned.extend({
  warnings: z.array(taskWarning).optional().describe('What its settings leave silent; absent: nothing.'),
});

const contact = z.object({ name: z.string().describe('What actions call it.') });

export const plan = z.object({
  create: z.array(written).describe('New tasks.'),
  update: z.array(written.extend({ changes: changes.describe('By path.') })).describe('Tasks that the file changes.'),
  unchanged: z.array(planned).describe('Tasks that are as the file says.'),
  archive: z.array(planned).describe('Tasks that the file does not name.'),
  contacts: z
    .object({
      create: z.array(contact).describe('New contacts.'),
      update: z.array(contact.extend({ changes: changes.describe('By path.') })).describe('Contacts that change.'),
      unchanged: z.array(contact).describe('Contacts that are as the file says.'),
    })
    .optional()
    .describe('Absent: the file names none.'),
});

/** Secrets are there as masks, and defaults are not: neither is so in the schema of what is applied. */
const exportedConfiguration = z
  .object({
    version: z.literal(1).describe('Of the form of the file.'),
    variables: literalTexts.optional(),
    contacts: z.array(jsonObject).describe('As `Configuration` has them; secrets are `********`.'),
    notifications: z.array(jsonObject).describe('As `Configuration` has them; secrets are `********`.'),
  })
  .meta({ id: 'ExportedConfiguration' });

export const exportConfiguration = route({
  method: 'GET',
  path: '/api/export',
  operationId: 'exportConfiguration',
  summary: 'All contacts and notification tasks as a configuration file',
  description:
    'Settings that are as by default are left out; secrets are `********`. With `Accept: application/yaml` the bare document as YAML. Texts are as they are stored; where one of them holds `${`, `variables: false` says so to `meerkat apply`.',
  tag: 'Configuration',
  access: 'admin',
  answers: [
    {
      status: 200,
      description: 'The configuration.',
      envelope: 'data',
      schema: exportedConfiguration,
    },
  ],
});

export const applyConfiguration = route({
  method: 'PUT',
  path: '/api/apply',
  operationId: 'applyConfiguration',
  summary: 'Make the notification tasks what a configuration file says',
  description:
    'Everything is checked first: where one entry is refused, nothing changes. What is to be written is on record before the first write, and done by itself where the server ends in the middle. Applying the same file again changes nothing. A secret of `********` stays as it is; in a new task it is 400 `secret_required`. Tasks that the file does not name stay, unless `archiveMissing=true`; contacts that it does not name stay always. With `dryRun=true` the answer is the plan alone.',
  tag: 'Configuration',
  access: 'admin',
  query: z.strictObject({ dryRun: flag, archiveMissing: flag }),
  body: configuration,
  yaml: true,
  bodyExample: {
    version: 1,
    notifications: [
      {
        externalKey: 'kettle',
        name: 'Price of the red kettle',
        url: 'https://shop.example.com/kettle',
        evaluationFunction:
          "const price = page.number(document.querySelector('.price'));\npage.report('value', price);\nreturn price < 40;",
      },
    ],
  },
  answers: [{ status: 200, description: 'What was done, or would be.', envelope: 'data', schema: plan }],
});
