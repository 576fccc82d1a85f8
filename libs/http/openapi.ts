/** The OpenAPI 3.1 document, made from the declarations of the routes and the schemas that validate them. */
import { z } from 'zod';
import { errorCodes } from '#runtime/errors';
import { apiVersion } from './front-door.js';
import { sessionCookieName } from './session-cookie.js';
import { describedParameter } from './path-parameter.js';
import type { Access, RouteAnswer, RouteDeclaration } from './route.js';

type Schema = { [name: string]: unknown };

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every schema that is a reference, with what `change` makes of it and of what stands beside it, everywhere inside. */
function mapRefs(value: unknown, change: (ref: string) => Schema): unknown {
  if (Array.isArray(value)) return value.map((entry: unknown) => mapRefs(entry, change));
  if (!isSchema(value)) return value;
  const { $ref, ...beside } = value;
  const mapped = Object.fromEntries(Object.entries(beside).map(([name, inner]) => [name, mapRefs(inner, change)]));
  return typeof $ref === 'string' ? { ...change($ref), ...mapped } : mapped;
}

/** What a schema's own words for OpenAPI say in place of what zod makes of it. */
function override(
  { zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Schema },
  io: 'input' | 'output',
): void {
  // A secret is shown as a mask: it is there.
  if (io === 'output') delete jsonSchema['writeOnly'];
  // The format says it, in a line that can be read.
  if (jsonSchema['format'] === 'date-time') delete jsonSchema['pattern'];
  // Clients would send it with every request, and generators take it for code.
  if (isSchema(jsonSchema['default'])) delete jsonSchema['default'];
  const meta = z.globalRegistry.get(zodSchema);
  const { parameter } = meta ?? {};
  // A default behind a transformation is a value of the output; of these parameters both look alike.
  if (zodSchema instanceof z.ZodDefault && typeof zodSchema.def.defaultValue === 'number') {
    jsonSchema['default'] = zodSchema.def.defaultValue;
  }
  if (isSchema(parameter)) {
    for (const name of ['pattern', 'parameter', 'type', 'format']) delete jsonSchema[name];
    Object.assign(jsonSchema, parameter);
  }
}

/** In a merge patch any member may be null: back to its default. */
function nullable(properties: unknown): Schema {
  if (!isSchema(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const { description, ...rest } = isSchema(schema) ? schema : {};
      return [name, { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: 'null' }] }];
    }),
  );
}

function plainSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const made = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: (made) => override(made, io) });
  return Object.fromEntries(Object.entries(made).filter(([name]) => name !== '$schema' && name !== '~standard'));
}

/** Any JSON value calls itself: generators get it as what it is, anything. */
const anyJson = 'JsonValue';

function isRecursive(name: string, definition: unknown): boolean {
  return JSON.stringify(definition).includes(`"#/$defs/${name}"`);
}

/** The root of a schema with an id is a reference to itself among the definitions. */
function rootOf({ $ref, ...own }: Schema, $defs: unknown): Schema {
  const id = typeof $ref === 'string' ? $ref.replace('#/$defs/', '') : null;
  const found = id !== null && isSchema($defs) ? $defs[id] : own;
  return isSchema(found) ? found : own;
}

/** A member of one of several forms, in a patch that does not say which: what all agree on. */
function agreed(schemas: readonly Schema[]): Schema {
  const [first = {}, ...others] = schemas;
  if (others.every((other) => JSON.stringify(other) === JSON.stringify(first))) return first;
  const words = schemas.map((schema) => schema['const']);
  if (words.every((word) => typeof word === 'string'))
    return { type: 'string', enum: words, description: 'One of these.' };
  return { type: 'object', description: 'Members to change; null takes one away.' };
}

/** A merge patch of an object, or of one of several that differ by their type. */
function patchSchema(patchOf: z.ZodType): Schema {
  const { $defs, ...own } = plainSchema(patchOf, 'input');
  const root = rootOf(own, $defs);
  const { oneOf } = root;
  const forms = (Array.isArray(oneOf) ? oneOf : [root]).filter(isSchema).map((form) => rootOf(form, $defs));
  const members = forms.flatMap(({ properties }) => Object.entries(isSchema(properties) ? properties : {}));
  const byName = Map.groupBy(members, ([name]) => name);
  const properties = [...byName].map(([name, all]): [string, unknown] => [
    name,
    agreed(all.map(([, schema]) => schema).filter(isSchema)),
  ]);
  return { type: 'object', properties: nullable(Object.fromEntries(properties)), additionalProperties: false, $defs };
}

/** Schemas under names, one for each concept: a schema with an `id` is a component, whatever it is a part of. */
class Components {
  readonly schemas: Record<string, unknown> = {};
  /** Under which name the schema of an id stands: what is sent and what is answered may differ by defaults. */
  readonly #names = new Map<string, string>();

  #nameOf(id: string, io: 'input' | 'output'): string {
    const known = this.#names.get(`${io} ${id}`);
    if (known !== undefined) return known;
    const schema = schemaOfId(id);
    const sameBothWays = JSON.stringify(plainSchema(schema, 'input')) === JSON.stringify(plainSchema(schema, 'output'));
    const name = io === 'input' && !sameBothWays && !id.endsWith('Input') ? `${id}Input` : id;
    this.#names.set(`${io} ${id}`, name);
    return name;
  }

  /** `name`: of a schema that has no id. */
  add(name: string, schema: z.ZodType, io: 'input' | 'output'): Schema {
    const { patchOf } = z.globalRegistry.get(schema) ?? {};
    const { $defs, ...own } = patchOf instanceof z.ZodType ? patchSchema(patchOf) : plainSchema(schema, io);
    const definitions = Object.entries(isSchema($defs) ? $defs : {});
    const recursive = new Set(definitions.filter(([id, one]) => isRecursive(id, one)).map(([id]) => id));
    const here = `#/components/schemas/${name}`;
    const moved = (ref: string): Schema => {
      if (ref === '#') return { $ref: here };
      const id = ref.slice('#/$defs/'.length);
      if (recursive.has(id)) return { $ref: `#/components/schemas/${anyJson}` };
      return { $ref: `#/components/schemas/${isUnnamed(id) ? `${name}${id}` : this.#nameOf(id, io)}` };
    };
    for (const [id, definition] of definitions) {
      if (recursive.has(id)) continue;
      const component = isUnnamed(id) ? `${name}${id}` : this.#nameOf(id, io);
      const { id: _id, ...said } = mapRefs(definition, moved) as Schema;
      this.schemas[component] ??= said;
    }
    const mapped = mapRefs(own, moved) as Schema;
    // Nothing but a reference to a concept: there is no need for a second name.
    if (typeof mapped['$ref'] === 'string' && Object.keys(mapped).length === 1) return mapped;
    this.schemas[name] ??= mapped;
    return { $ref: here };
  }
}

function isUnnamed(id: string): boolean {
  return id.startsWith('__schema');
}

function schemaOfId(id: string): z.ZodType {
  const found = z.globalRegistry._idmap.get(id);
  if (found === undefined) throw new Error(`no schema has the id ${id}`);
  return found as z.ZodType;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const headerRef = (name: string) => ({ $ref: `#/components/headers/${name}` });

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
  const data = { type: 'array', items: inner };
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
  const inner =
    answer.schema === undefined
      ? {}
      : components.add(name, answer.schema, answer.leavesOutDefaults === true ? 'input' : 'output');
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

function queryParameters(query: z.ZodType | undefined): Schema[] {
  if (query === undefined) return [];
  const { properties, required } = plainSchema(query, 'input');
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isSchema(properties) ? properties : {}).map(([name, schema]) => {
    const { description, ...rest } = isSchema(schema) ? schema : {};
    return {
      name,
      in: 'query',
      required: needed.includes(name),
      ...(description === undefined ? {} : { description }),
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

const errorTexts: Readonly<Record<string, string>> = {
  400: 'VALIDATION_ERROR: the request cannot be understood or breaks a rule; details name the fields.',
  401: 'UNAUTHORIZED: no API key, or one that is not valid.',
  403: 'FORBIDDEN: the key or the session is known and lacks the scope.',
  404: 'NOT_FOUND: unknown, malformed or another organisation’s id.',
  409: 'VALIDATION_ERROR: it exists already, or the Idempotency-Key was used for another request.',
  412: 'VALIDATION_ERROR, stale_revision: it was changed since the revision in If-Match.',
  413: 'VALIDATION_ERROR, body_too_large: more than 1 MiB, or than 16 KiB where no key is needed.',
  415: 'VALIDATION_ERROR, unsupported_media_type: not JSON in UTF-8.',
  429: 'RATE_LIMITED: the budget is used up.',
  500: 'SERVER_ERROR: a defect of ours.',
  503: 'SERVER_ERROR: a part is unreachable or stopping; try again.',
};

const headerTexts: Readonly<Record<string, string>> = {
  'X-Request-Id': 'Id of this request; on everything that follows from it.',
  'X-API-Version': 'Version of this contract.',
  'X-RateLimit-Limit': 'Requests in a window of one hour.',
  'X-RateLimit-Remaining': 'Requests left in it.',
  'X-RateLimit-Reset': 'When it ends, seconds since 1970.',
  'RateLimit-Policy': 'The same in the IETF form.',
  RateLimit: 'The same in the IETF form.',
  'Retry-After': 'Seconds to wait.',
  'WWW-Authenticate': 'Bearer',
};

function errorResponse(status: string, description: string): Schema {
  const extra: string[] = [];
  if (status === '401') extra.push('WWW-Authenticate');
  if (status === '429' || status === '503') extra.push('Retry-After');
  const names = ['X-Request-Id', 'X-API-Version', ...extra];
  return {
    description,
    headers: Object.fromEntries(names.map((name) => [name, headerRef(name)])),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

const integer = { type: 'integer', minimum: 0 };

const sharedSchemas = {
  Error: {
    type: 'object',
    properties: {
      success: { const: false, description: 'It did not.' },
      error: {
        type: 'object',
        description: 'What went wrong.',
        properties: {
          code: { type: 'string', enum: [...errorCodes], description: 'For programs: one of six.' },
          message: { type: 'string', description: 'For people.' },
          reason: { type: 'string', description: 'For programs: a stable snake_case word.' },
          requestId: { type: 'string', description: 'Of the request: what the log has about it stands under this id.' },
          details: {
            type: 'array',
            description: 'The fields that are at fault.',
            items: {
              type: 'object',
              properties: {
                field: { type: 'string', description: 'Path such as actions[0].config.to.' },
                rule: { type: 'string', description: 'A stable word.' },
                message: { type: 'string', description: 'For people.' },
                line: { type: 'integer', description: 'In the text of the field, from 1.' },
                column: { type: 'integer', description: 'In the line, from 1.' },
                href: { type: 'string', description: 'Where what is left of it can be read.' },
              },
              required: ['field', 'rule', 'message'],
            },
          },
        },
        required: ['code', 'message', 'reason', 'requestId'],
      },
    },
    required: ['success', 'error'],
    example: {
      success: false,
      error: {
        code: 'VALIDATION_ERROR',
        message: 'name is required.',
        reason: 'name_required',
        requestId: 'req_01jcpgn4m8v2x3z5b7d9f1h3k5',
        details: [{ field: 'name', rule: 'required', message: 'is required' }],
      },
    },
  },
  [anyJson]: { description: 'Any JSON value.' },
  Pagination: {
    type: 'object',
    description: 'Where in a page-numbered list the answer is.',
    properties: {
      page: { ...integer, description: 'From 1.' },
      limit: { ...integer, description: 'Entries of a page.' },
      total: { ...integer, description: 'Entries in all.' },
      pages: { ...integer, description: 'Pages in all; 0 where there is no entry.' },
    },
    required: ['page', 'limit', 'total', 'pages'],
  },
  Cursor: {
    type: 'object',
    properties: { next: { type: ['string', 'null'], description: 'Give it as `after`; null: this was the end.' } },
    required: ['next'],
  },
};

const sharedParameters = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Kept for 24 hours: the same key and body get the first answer again, with Idempotent-Replayed: true.',
    schema: { type: 'string', pattern: '^[!-~]([ -~]{0,253}[!-~])?$' },
  },
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    description: 'The ETag the change is based on, or *.',
    schema: { type: 'string', pattern: String.raw`^(\*|"(0|[1-9][0-9]{0,14})")$` },
  },
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    description: 'An id of yours for this request, up to 128 of A-Z a-z 0-9 . _ -; anything else is replaced.',
    schema: { type: 'string' },
  },
};

const tagTexts: Readonly<Record<string, string>> = {
  Notifications: 'Tasks: a page, the code that reads it, and who is told.',
  Actions: 'Who is told, and over which channel.',
  Execute: 'Runs: asked for by hand, tried without being saved, looked up, replayed.',
  Schedules: 'When tasks run.',
  Deliveries: 'Messages on their way, each try on record.',
  Configuration: 'All tasks as a file.',
  Keys: 'What programs sign in with.',
  Sessions: 'What people sign in with.',
  Account: 'What people do with their own account: password, second factor.',
  Members: 'Who belongs to the organisation, and what they may.',
  Organizations: 'The organisation, its budget, and for operators all of them.',
  Setup: 'The first start.',
  Stream: 'What happens, as it happens.',
  Audit: 'Every change, and proof that it is what was recorded.',
  Operations: 'The instance itself.',
  Statistics: 'Figures of runs, by hour and day.',
};

function tagsOf(declarations: readonly RouteDeclaration[]): readonly Schema[] {
  const shown = declarations.filter(({ hidden }) => hidden !== true);
  return [...new Set(shown.map(({ tag }) => tag))].map((name) => ({ name, description: tagTexts[name] }));
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
