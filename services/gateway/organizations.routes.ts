/** The operations on the organisation, its budget, and for operators on all organisations. */
import { z } from 'zod';
import { organizationDocument } from '#contracts/account';
import { storedTimestamp } from '#contracts/common';
import { organizationChange, organizationInput } from '#contracts/member';
import { pageParameters } from '#http/parameters';
import { route } from '#http/route';

const organizations = { tag: 'Organizations' } as const;

const budgets = z
  .object({
    rateLimit: z.int().describe('Requests an hour that the plan gives.'),
  })
  .meta({ id: 'OrganizationDefaults' });

export const organizationAnswer = organizationDocument
  .extend({ defaults: budgets.describe('What holds where the organisation has nothing of its own.') })
  .meta({ id: 'OrganizationAnswer' });

const changed = { status: 200, description: 'The organisation as it is now.', envelope: 'data' } as const;

export const getOrganization = route({
  ...organizations,
  method: 'GET',
  path: '/api/organization',
  operationId: 'getOrganization',
  summary: 'Get the organisation',
  access: 'read',
  raisesBudget: true,
  answers: [{ status: 200, description: 'The organisation.', envelope: 'data', schema: organizationAnswer }],
});

export const changeOrganization = route({
  ...organizations,
  method: 'PATCH',
  path: '/api/organization',
  operationId: 'changeOrganization',
  summary: 'Change the organisation',
  description:
    'The plan and `rateLimit` are changed by operators alone, also where their own budget is used up. The budget that holds afterwards holds from the next request on; what was used stays used.',
  access: 'admin',
  raisesBudget: true,
  body: organizationChange,
  ignoredFields: ['id', 'createdAt', 'defaults'],
  bodyExample: { name: 'Example Ltd' },
  mergePatch: true,
  answers: [{ ...changed, schema: organizationAnswer }],
});

export const listOrganizations = route({
  ...organizations,
  method: 'GET',
  path: '/api/organizations',
  operationId: 'listOrganizations',
  summary: 'List all organisations of the instance',
  description: 'Newest first.',
  access: 'operator',
  raisesBudget: true,
  query: z.strictObject(pageParameters),
  answers: [{ status: 200, description: 'Organisations.', envelope: 'list', schema: organizationAnswer }],
});

export const foundOrganization = route({
  ...organizations,
  method: 'POST',
  path: '/api/organizations',
  operationId: 'foundOrganization',
  summary: 'Make another organisation',
  description: 'Its owner is invited by a link, as a member is.',
  access: 'operator',
  body: organizationInput,
  bodyExample: { name: 'Another Ltd', ownerEmail: 'owner@another.example', plan: 'pro' },
  answers: [
    {
      status: 201,
      description: 'The organisation, and the link of its owner, which is shown this once.',
      envelope: 'data',
      schema: z
        .object({
          organization: organizationAnswer.describe('What was made.'),
          invitationUrl: z.string().describe('Where its owner joins, once.'),
        })
        .meta({ id: 'FoundedOrganization' }),
    },
  ],
});

export const changeAnyOrganization = route({
  ...organizations,
  method: 'PATCH',
  path: '/api/organizations/{id}',
  operationId: 'changeAnyOrganization',
  summary: 'Change an organisation of the instance',
  access: 'operator',
  raisesBudget: true,
  ids: { id: { prefix: 'org', of: 'organisation' } },
  body: organizationChange,
  ignoredFields: ['id', 'createdAt', 'defaults'],
  bodyExample: { plan: 'enterprise', rateLimit: 250_000 },
  mergePatch: true,
  answers: [{ ...changed, schema: organizationAnswer }],
});

export const getUsage = route({
  ...organizations,
  method: 'GET',
  path: '/api/usage',
  operationId: 'getUsage',
  summary: 'What was used',
  description: 'Of the budget that all keys of the organisation share; people who are signed in have one of their own.',
  access: 'read',
  answers: [
    {
      status: 200,
      description: 'The budget, and what happened in the last 24 hours.',
      envelope: 'data',
      schema: z
        .object({
          budget: z.int().describe('Requests in an hour.'),
          used: z.int().describe('Of them, this one included where a key asks.'),
          resetsAt: storedTimestamp.nullable().describe('When the budget is whole again; null: it is.'),
          tasks: z.int().describe('Tasks that are not archived.'),
          executions: z.int().describe('In the last 24 hours.'),
          deliveries: z.int().describe('In the last 24 hours.'),
        })
        .meta({ id: 'Usage' }),
    },
  ],
});
