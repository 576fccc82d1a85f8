/** The OpenAPI 3.1 document, made from the declarations of the routes and the schemas that validate them. */
import type { z } from 'zod';
import { apiVersion } from './front-door.js';
import { Components, isSchema, plainSchema, type Schema } from './openapi-schemas.js';
import {
  errorResponse,
  errorTexts,
  headerRef,
  headerTexts,
  sharedParameters,
  sharedSchemas,
  tagsOf,
} from './openapi-shared.js';
import { describedParameter } from './path-parameter.js';
import type { Access, RouteAnswer, RouteDeclaration } from './route.js';
import { sessionCookieName } from './session-cookie.js';

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** On every answer; those of the budget only where a key is needed. */
function commonHeaders(access: Access): Record<string, unknown> {
  const standing = { 'X-Request-Id': headerRef('X-Request-Id'), 'X-API-Version': headerRef('X-API-Version') };
  if (access === 'public' || access === 'probe') return standing;
  const budget = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit-Policy', 'RateLimit'];
  return { ...standing, ...Object.fromEntries(budget.map((name) => [name, headerRef(name)])) };
}

const pagination = { $ref: '#/components/schemas/Pagination' };

function enveloped({ envelope, cursor }: RouteAnswer, inner: unknown): Schema {
  if (envelope === 'data') {
    return {
      type: 'object',
      properties: { success: { const: true, description: 'It did.' }, data: inner },
      required: ['success', 'data'],
      additionalProperties: false,
    };
  }
  const data = { type: 'array', items: inner, description: 'What was asked for, in its order.' };
  const pages = {
    type: 'object',
    properties: { data, pagination },
    required: ['data', 'pagination'],
    additionalProperties: false,
  };
  if (cursor !== true) return pages;
  const byCursor = {
    type: 'object',
    properties: { data, cursor: { $ref: '#/components/schemas/Cursor' } },
    required: ['data', 'cursor'],
    additionalProperties: false,
  };
  return { oneOf: [pages, byCursor] };
}

function answerOf(components: Components, declaration: RouteDeclaration, answer: RouteAnswer): Schema {
  const headers = commonHeaders(declaration.access);
  for (const [name, description] of Object.entries(answer.headers ?? {})) {
    headers[name] = { description, schema: { type: 'string' } };
  }
  if (answer.envelope === 'none') {
    const schemaOf: Readonly<Record<string, Schema>> = {
      'application/json': { type: 'object' },
      'text/event-stream': {},
    };
    const schema = schemaOf[answer.contentType ?? ''] ?? { type: 'string' };
    return { description: answer.description, headers, content: { [answer.contentType ?? 'text/plain']: { schema } } };
  }
  const name = `${capital(declaration.operationId)}Answer`;
  const inner = answer.schema === undefined ? {} : components.add(name, answer.schema, 'output');
  const content = {
    schema: enveloped(answer, inner),
    ...(answer.example === undefined ? {} : { example: answer.example }),
  };
  return { description: answer.description, headers, content: { 'application/json': content } };
}

const errorOf = (status: string) => ({ $ref: `#/components/responses/Error${status}` });

/** Which errors an operation can answer with. */
function errorsOf({ access, ids, body, conditional, method, errors = [] }: RouteDeclaration): Record<string, unknown> {
  const statuses = new Set(['500', '503', ...errors.map(String)]);
  if (access !== 'probe') statuses.add('429');
  if (access !== 'probe' && access !== 'public') ['401', '403'].forEach((status) => statuses.add(status));
  // A path, a header or an unknown parameter may be what cannot be read.
  statuses.add('400');
  if (body !== undefined) ['413', '415'].forEach((status) => statuses.add(status));
  if (ids !== undefined) statuses.add('404');
  if (conditional) statuses.add('412');
  if (method === 'POST' || method === 'PUT' || method === 'PATCH') statuses.add('409');
  return Object.fromEntries([...statuses].sort().map((status) => [status, errorOf(status)]));
}

/** What a schema says by itself of a value that it takes; undefined where it says none. */
function exampleBySchema(schema: Schema): unknown {
  const { default: usual, const: only, enum: some, minimum, format } = schema;
  const said = usual ?? only ?? (Array.isArray(some) ? (some as unknown[])[0] : undefined) ?? minimum;
  return said ?? (format === 'date-time' ? '2026-11-01T08:00:00.000Z' : undefined);
}

function queryParameters(query: z.ZodType | undefined): Schema[] {
  if (query === undefined) return [];
  const { properties, required } = plainSchema(query, 'input');
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isSchema(properties) ? properties : {}).map(([name, schema]) => {
    const { description, example: given, ...rest } = isSchema(schema) ? schema : {};
    const example = given ?? exampleBySchema(rest);
    return {
      name,
      in: 'query',
      required: needed.includes(name),
      ...(description === undefined ? {} : { description }),
      ...(example === undefined ? {} : { example }),
      schema: rest,
    };
  });
}

function parametersOf({ ids, query, method, conditional, access }: RouteDeclaration): unknown[] {
  const inPath = Object.entries(ids ?? {}).map(([name, parameter]) => ({
    name,
    in: 'path',
    required: true,
    ...describedParameter(parameter),
  }));
  const key = method === 'POST' && access !== 'public';
  return [
    ...inPath,
    ...queryParameters(query),
    ...(key ? [{ $ref: '#/components/parameters/Idempotency-Key' }] : []),
    ...(conditional ? [{ $ref: '#/components/parameters/If-Match' }] : []),
    { $ref: '#/components/parameters/X-Request-Id' },
  ];
}

function bodyOf(components: Components, declaration: RouteDeclaration): Schema | undefined {
  const { body, emptyBody, bodyExample, mergePatch, yaml, operationId } = declaration;
  if (body === undefined) return undefined;
  const schema = components.add(`${capital(operationId)}Body`, body, 'input');
  const content = { schema, ...(bodyExample === undefined ? {} : { example: bodyExample }) };
  return {
    required: emptyBody === undefined,
    content: {
      'application/json': content,
      ...(mergePatch === true ? { 'application/merge-patch+json': content } : {}),
      ...(yaml === true ? { 'application/yaml': content } : {}),
    },
  };
}

function operationOf(components: Components, declaration: RouteDeclaration): Schema {
  const { operationId, summary, description, tag, access, answers } = declaration;
  const requestBody = bodyOf(components, declaration);
  const open = access === 'public' || access === 'probe';
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    security: open ? [] : access === 'session' ? [{ session: [] }] : [{ apiKey: [access] }, { session: [access] }],
    parameters: parametersOf(declaration),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      ...Object.fromEntries(
        answers.map((answer) => [String(answer.status), answerOf(components, declaration, answer)]),
      ),
      ...errorsOf(declaration),
    },
  };
}

/** The whole document. */
export function openApiDocument(declarations: readonly RouteDeclaration[]): Schema {
  const components = new Components();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const declaration of declarations) {
    if (declaration.hidden === true) continue;
    const operations = (paths[declaration.path] ??= {});
    operations[declaration.method.toLowerCase()] = operationOf(components, declaration);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Meerkat',
      version: apiVersion,
      description: 'Watches web pages with your own code and tells you when it matters.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This instance.' }],
    tags: tagsOf(declarations),
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            '`Authorization: Bearer <API_KEY>`. The scopes: read, write, execute (both imply read), admin (all of the organisation), operator (of the instance).',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookieName,
          description:
            'Who signed in with `POST /api/sessions`. A role stands for scopes; writes need an `Origin` of this instance.',
        },
      },
      schemas: { ...sharedSchemas, ...components.schemas },
      parameters: sharedParameters,
      headers: Object.fromEntries(
        Object.entries(headerTexts).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
      ),
      responses: Object.fromEntries(
        Object.entries(errorTexts).map(([status, description]) => [
          `Error${status}`,
          errorResponse(status, description),
        ]),
      ),
    },
  };
}
