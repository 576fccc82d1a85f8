import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { openApiDocument } from './openapi.js';
import { pageParameters } from './parameters.js';
import { route } from './route.js';

const item = z.object({ id: z.string(), any: z.json() });

const document = openApiDocument([
  route({
    method: 'POST',
    path: '/api/items/{id}',
    operationId: 'makeItem',
    summary: 'Make an item',
    tag: 'Items',
    access: 'write',
    ids: { id: { prefix: 'ntf', of: 'item' } },
    query: z.strictObject(pageParameters),
    body: z.strictObject({ name: z.string().max(5).default('x'), secret: z.string().meta({ writeOnly: true }) }),
    conditional: true,
    answers: [{ status: 201, description: 'Made.', envelope: 'data', schema: item }],
  }),
  route({
    method: 'GET',
    path: '/hidden',
    operationId: 'hidden',
    summary: 'Hidden',
    tag: 'Pages',
    access: 'public',
    hidden: true,
    answers: [{ status: 200, description: 'x', envelope: 'none' }],
  }),
]);

function at(...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    document,
  );
}

describe('the OpenAPI document', () => {
  it('says what an operation needs and gives', () => {
    const operation = at('paths', '/api/items/{id}', 'post');
    expect(operation).toMatchObject({
      security: [{ apiKey: ['write'] }, { session: ['write'] }],
      requestBody: { required: true },
    });
    const responses = at('paths', '/api/items/{id}', 'post', 'responses');
    const statuses = ['201', '400', '401', '403', '404', '409', '412', '413', '415', '429', '500', '503'];
    for (const status of statuses) expect(responses).toHaveProperty(status);
  });

  it('describes requests as they come in and answers as they go out', () => {
    expect(at('components', 'schemas', 'MakeItemBody')).toMatchObject({
      required: ['secret'],
      additionalProperties: false,
      properties: { name: { default: 'x', maxLength: 5 }, secret: { writeOnly: true } },
    });
    expect(at('paths', '/api/items/{id}', 'post', 'parameters')).toContainEqual({
      name: 'limit',
      in: 'query',
      required: false,
      example: 20,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    });
  });

  it('leaves out what is hidden', () => {
    expect(at('paths', '/hidden')).toBeUndefined();
  });
});
