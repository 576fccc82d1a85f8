import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSqliteBus } from '#bus/sqlite';
import { declarations } from '#channels/declarations';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { entriesIn, member, namesIn, startGateway, type GatewayKit } from './gateway.kit.js';
import { secretsOfAction } from './secrets.js';

const stores = {
  eventStore: createSqliteEventStore(':memory:'),
  bus: createSqliteBus(':memory:', silentLogger),
  readStore: createSqliteReadStore(':memory:'),
};
let gateway: GatewayKit;
let document: unknown;

beforeAll(async () => {
  gateway = await startGateway(stores);
  const reply = await gateway.send('GET', '/api/openapi.json', { key: null });
  document = reply.body;
});

afterAll(async () => {
  await gateway.stop();
  await stores.bus.close();
  await stores.readStore.close();
  await stores.eventStore.close();
});

interface Place {
  readonly path: readonly string[];
  readonly value: object;
}

/** Every object inside, with where it stands. */
function objectsIn(value: unknown, path: readonly string[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return [{ path, value }, ...Object.entries(value).flatMap(([name, inner]) => objectsIn(inner, [...path, name]))];
}

function operations(): readonly { readonly name: string; readonly path: string; readonly value: unknown }[] {
  return entriesIn(member(document, 'paths')).flatMap(([path, methods]) =>
    entriesIn(methods).map(([method, value]) => ({ name: `${method} ${path}`, path, value })),
  );
}

const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

describe('GET /api/openapi.json', () => {
  it('is OpenAPI 3.1 with the version of the contract', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '2026-11-01' } });
  });

  it('has every path of the main job', () => {
    const names = operations().map(({ name }) => name);
    for (const name of [
      'post /api/setup',
      'post /api/notifications',
      'get /api/notifications',
      'get /api/notifications/{id}',
      'put /api/notifications/{id}',
      'patch /api/notifications/{id}',
      'delete /api/notifications/{id}',
      'post /api/notifications/{id}/execute',
      'get /api/notifications/{id}/executions',
      'get /api/notifications/{id}/deliveries',
      'get /api/notifications/{id}/history',
      'get /api/executions',
      'get /api/executions/{id}',
      'get /api/deliveries',
      'get /api/deliveries/{id}',
    ]) {
      expect(names).toContain(name);
    }
  });

  it('resolves every reference', () => {
    for (const { value } of objectsIn(document)) {
      const ref: unknown = Reflect.get(value, '$ref');
      if (typeof ref !== 'string') continue;
      expect(ref).toMatch(/^#\//);
      const parts = ref.slice(2).split('/');
      expect([ref, member(document, ...parts)]).not.toEqual([ref, undefined]);
    }
  });

  it('gives each operation an id of its own, a success, its errors, and every parameter of its path', () => {
    const ids = new Set<unknown>();
    for (const { name, path, value } of operations()) {
      ids.add(member(value, 'operationId'));
      const statuses = namesIn(member(value, 'responses'));
      expect([name, statuses.some((status) => status.startsWith('2'))]).toEqual([name, true]);
      expect(statuses).toContain('500');
      for (const status of statuses) {
        const response = member(value, 'responses', status);
        expect(typeof (member(response, 'description') ?? member(response, '$ref'))).toBe('string');
      }
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      const parameters = entriesIn(member(value, 'parameters')).map(([, parameter]) => parameter);
      const described = parameters.filter((one) => member(one, 'in') === 'path');
      expect(described.map((one) => member(one, 'name'))).toEqual(inPath);
    }
    expect(ids.size).toBe(operations().length);
  });

  it('uses the types and words of JSON Schema 2020-12', () => {
    const schemas = objectsIn(member(document, 'components', 'schemas'));
    for (const { path, value } of schemas) {
      if (path.at(-2) === 'properties' || path.at(-1) === 'items') {
        const type: unknown = Reflect.get(value, 'type');
        if (typeof type === 'string') expect(types).toContain(type);
      }
      for (const own of ['parameter', 'patchOf', 'checkedLater', 'nullable', '$schema', '~standard']) {
        if (path.at(-1) !== 'properties') expect([path, own in value]).toEqual([path, false]);
      }
      const pattern: unknown = Reflect.get(value, 'pattern');
      if (typeof pattern === 'string') expect(() => new RegExp(pattern, 'u')).not.toThrow();
      const required: unknown = Reflect.get(value, 'required');
      if (Array.isArray(required) && path.at(-1) !== 'properties') {
        const properties = namesIn(Reflect.get(value, 'properties'));
        for (const name of required) expect(properties).toContain(name);
      }
    }
  });

  it('marks secrets as writeOnly in requests', () => {
    const inputs = namesIn(member(document, 'components', 'schemas')).filter((name) => name.endsWith('ActionInput'));
    const secrets = inputs
      .flatMap((name) => objectsIn(member(document, 'components', 'schemas', name)))
      .filter(({ value }) => Reflect.get(value, 'writeOnly') === true);
    const declared = declarations
      .flatMap(({ type }) => secretsOfAction(type).writeOnly)
      .map((place) => place.at(-1)?.replace('*', 'additionalProperties'));
    const names = secrets.map(({ path }) => path.at(-1)?.replace(/^items$/, 'additionalProperties'));
    expect(new Set(names)).toEqual(new Set(declared));
    expect(declared).toContain('secret');
  });

  it('has a component for each concept, none of which calls itself, and a description for each property', () => {
    const schemas = member(document, 'components', 'schemas');
    expect(namesIn(schemas)).toEqual(
      expect.arrayContaining(
        ['Notification', 'NotificationInput', 'Action', 'ActionInput', 'Schedule', 'Policy', 'Fetch'].concat([
          'Execution',
          'Delivery',
          'ApiKey',
          'Decision',
          'Explanation',
          'MessagePreview',
          'Error',
        ]),
      ),
    );
    const reaches = (name: string): readonly string[] =>
      [...JSON.stringify(member(schemas, name)).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, to]) => to ?? '');
    const walk = (name: string, above: readonly string[]): void => {
      expect([name, above.includes(name)]).toEqual([name, false]);
      for (const inner of reaches(name)) walk(inner, [...above, name]);
    };
    for (const name of namesIn(schemas)) walk(name, []);
    const isDescribed = (value: object): boolean => {
      const component = /^#\/components\/schemas\/(\w+)$/.exec(String(Reflect.get(value, '$ref')))?.[1];
      return (
        'description' in value || (component !== undefined && member(schemas, component, 'description') !== undefined)
      );
    };
    const isProperty = ({ path }: { readonly path: readonly string[] }): boolean => path.at(-2) === 'properties';
    const silent = objectsIn(schemas).filter((one) => isProperty(one) && !isDescribed(one.value));
    // The envelope of an answer is described by the answer.
    const bare = objectsIn(member(document, 'paths')).filter(
      (one) => isProperty(one) && !('description' in one.value) && !('$ref' in one.value),
    );
    expect([...silent, ...bare].map(({ path }) => path.join('.'))).toEqual([]);
  });

  it('says nothing that generators stumble over', () => {
    for (const { path, value } of objectsIn(member(document, 'components', 'schemas'))) {
      const given: unknown = Reflect.get(value, 'default');
      const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
      if (path.at(-1) !== 'properties') expect([path, isObject]).toEqual([path, false]);
      const isAnswer = !path[0]?.endsWith('Input') && !path[0]?.endsWith('Body');
      if (isAnswer) expect([path, 'writeOnly' in value]).toEqual([path, false]);
      // JavaScript alone knows the class of every character.
      const pattern: unknown = Reflect.get(value, 'pattern');
      if (typeof pattern === 'string') expect([path, pattern.includes('[^]')]).toEqual([path, false]);
    }
    const tags: unknown = member(document, 'tags');
    const known = entriesIn(tags).map(([, tag]) => member(tag, 'name'));
    for (const { value } of operations()) expect(known).toContain(member(value, 'tags', '0'));
    for (const [, tag] of entriesIn(tags)) expect(typeof member(tag, 'description')).toBe('string');
    expect(member(document, 'components', 'securitySchemes', 'session')).toMatchObject({
      type: 'apiKey',
      in: 'cookie',
    });
  });

  it('describes what is really answered: every field, none besides', async () => {
    await gateway.addKey(await gateway.addOrganization('enterprise'), ['admin']);
    const body = { name: 'x', url: 'https://example.com/', evaluationFunction: 'return true' };
    const made = await gateway.send('POST', '/api/notifications', { body });
    const fieldsOf = (schema: string) => namesIn(member(document, 'components', 'schemas', schema, 'properties'));
    const path = `/api/notifications/${String(member(made.body, 'data', 'id'))}`;
    // A candidate is named where one was put beside the task.
    const withoutOne = fieldsOf('Notification').filter((name) => name !== 'shadow');
    expect(namesIn(member(made.body, 'data'))).toEqual(withoutOne);
    await gateway.send('PUT', `${path}/shadow`, { body: { evaluationFunction: 'return false' } });
    expect(namesIn(member((await gateway.send('GET', path)).body, 'data'))).toEqual(fieldsOf('Notification'));
    const run = await gateway.send('POST', `${path}/execute`);
    // A hint is there where the page says why the code may have found nothing, a screenshot where a browser took one.
    const named = [...namesIn(member(run.body, 'data')), 'hint', 'screenshotId'];
    expect(named.toSorted()).toEqual(fieldsOf('StartedExecution').toSorted());
  });
});
