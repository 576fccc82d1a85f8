import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { declarations } from '#channels/declarations';
import { errorOf, member, refused, type GatewayKit } from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

let opened: OpenedGateway;
let gateway: GatewayKit;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
});

afterAll(() => opened.close());

const find = async (type: string): Promise<unknown> => {
  const { body } = await gateway.send('GET', '/api/action-types');
  const types = member(body, 'data');
  return Array.isArray(types) ? types.find((one) => member(one, 'type') === type) : undefined;
};

describe('GET /api/action-types', () => {
  it('lists every channel in pages, exactly as data and pagination', async () => {
    const total = declarations.length;
    const { status, body } = await gateway.send('GET', '/api/action-types?limit=2&page=2');
    expect(status).toBe(200);
    expect(body).toEqual({
      data: declarations.slice(2, 4).map(({ type }) => expect.objectContaining({ type })),
      pagination: { page: 2, limit: 2, total, pages: Math.ceil(total / 2) },
    });
  });

  it('gives the JSON Schema of a config, with its secrets as writeOnly', async () => {
    expect(await find('webhook')).toEqual({
      type: 'webhook',
      configSchema: expect.objectContaining({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        required: ['url'],
        additionalProperties: false,
        properties: expect.objectContaining({
          url: expect.objectContaining({ type: 'string', minLength: 1, maxLength: 2_048 }),
          secret: expect.objectContaining({ type: 'string', writeOnly: true }),
        }),
      }),
      generated: ['secret'],
      available: true,
    });
    const secrets = member(await find('custom'), 'configSchema', 'properties', 'secrets', 'additionalProperties');
    expect(secrets).toMatchObject({ writeOnly: true });
    expect(member(await find('email'), 'configSchema', 'required')).toEqual(['to', 'subject']);
  });

  it('needs a key with the scope read', async () => {
    expect(errorOf(await gateway.send('GET', '/api/action-types', { key: null }))).toMatchObject({ status: 401 });
  });

  it.each([
    ['page=0', 'page_invalid'],
    ['limit=101', 'limit_invalid'],
    ['type=email', 'unknown_parameter'],
  ])('refuses ?%s', async (query, reason) => {
    expect(errorOf(await gateway.send('GET', `/api/action-types?${query}`))).toEqual(
      refused(400, 'VALIDATION_ERROR', reason),
    );
  });

  it('refuses another method with 405', async () => {
    const reply = await gateway.send('POST', '/api/action-types', { body: {} });
    expect(errorOf(reply)).toEqual(refused(405, 'NOT_FOUND', 'method_not_allowed'));
    expect(reply.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('an action type whose needs the instance does not meet', () => {
  it('is listed as not available', async () => {
    const bare = await openGateway({});
    const { body } = await bare.gateway.send('GET', '/api/action-types');
    expect(member(body, 'data', 0)).toMatchObject({ type: 'email', available: false });
    expect(member(body, 'data', 1)).toMatchObject({ type: 'webhook', available: true });
    await bare.close();
  });
});
