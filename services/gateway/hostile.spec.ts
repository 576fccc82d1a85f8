import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createSqliteBus } from '#bus/sqlite';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import {
  errorOf,
  idOf,
  member,
  refused,
  startGateway,
  taskBody,
  webhookBody,
  type GatewayKit,
  type Reply,
} from './gateway.kit.js';

const stores = {
  eventStore: createSqliteEventStore(':memory:'),
  bus: createSqliteBus(':memory:', silentLogger),
  readStore: createSqliteReadStore(':memory:'),
};
let gateway: GatewayKit;
let key: string;
let path: string;

beforeAll(async () => {
  gateway = await startGateway(stores, { ANONYMOUS_PER_MINUTE: '100000' });
  key = await gateway.addKey(await gateway.addOrganization('enterprise'), ['admin']);
  path = `/api/notifications/${idOf(await gateway.send('POST', '/api/notifications', { body: taskBody }))}`;
});

afterAll(async () => {
  await gateway.stop();
  await stores.bus.close();
  await stores.readStore.close();
  await stores.eventStore.close();
});

/** Either it worked or the envelope says by name what did not. */
function expectNamed(reply: Reply): void {
  expect([reply.text.slice(0, 300), reply.status < 500]).toEqual([reply.text.slice(0, 300), true]);
  if (reply.status < 400) return;
  expect(member(reply.body, 'success')).toBe(false);
  expect(member(reply.body, 'error', 'reason')).toMatch(/^[a-z][a-z0-9_]*$/);
  expect(member(reply.body, 'error', 'requestId')).toBe(reply.headers.get('x-request-id'));
}

const odd = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(
    '',
    '\u0000',
    '********',
    'x'.repeat(5_000),
    -1,
    0,
    1e308,
    2 ** 53,
    null,
    [],
    {},
    [[]],
    true,
    '{{',
    '{% if %}',
  ),
);
const fields =
  'name description url evaluationFunction actions schedule policy fetch tags externalKey status id revision constructor toString __proto__'.split(
    ' ',
  );
const inner = fc.dictionary(
  fc.constantFrom('type', 'config', 'to', 'url', 'secret', 'headers', 'id', 'on', 'mode', 'proxy', 'intervalSeconds'),
  odd,
);
const action = fc.record(
  { type: fc.constantFrom('email', 'webhook', 'custom', 'fax'), config: fc.oneof(inner, odd), id: odd, on: odd },
  { requiredKeys: ['type'] },
);
const member1 = fc
  .constantFrom(...fields)
  .chain((field) =>
    fc
      .oneof(odd, inner, field === 'actions' ? fc.array(fc.oneof(action, odd), { maxLength: 3 }) : odd)
      .map((value) => [field, value] as const),
  );
const bodies = fc.array(member1, { maxLength: 4 }).map((members) => ({ ...taskBody, ...Object.fromEntries(members) }));

describe('hostile input', () => {
  it('in bodies never ends in anything without a name', async () => {
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        expectNamed(await gateway.send('POST', '/api/notifications', { body }));
        expectNamed(await gateway.send('PUT', path, { body }));
        expectNamed(await gateway.send('PATCH', path, { body }));
      }),
      { numRuns: 150 },
    );
  });

  it('in bytes never ends in anything without a name', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.string({ unit: 'binary', maxLength: 64 }),
      fc.json().map((text) => text.slice(0, -1)),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (body) => {
        expectNamed(await gateway.send('POST', '/api/notifications', { body }));
        expectNamed(await gateway.send('POST', `${path}/execute`, { body }));
      }),
      { numRuns: 100 },
    );
  });

  it('in paths, queries and headers never ends in anything without a name', async () => {
    const text = fc.string({ unit: 'binary-ascii', maxLength: 40 });
    const header = fc.string({ maxLength: 60 }).map((value) => value.replaceAll(/[^\x21-\x7e]/g, '!') || '!');
    await fc.assert(
      fc.asyncProperty(text, header, fc.constantFrom('GET', 'POST', 'DELETE', 'PATCH'), async (part, value, method) => {
        const encoded = encodeURIComponent(part);
        expectNamed(await gateway.send(method, `/api/notifications/${encoded}`));
        expectNamed(await gateway.send('GET', `/api/executions?after=${encoded}&${encoded}=${encoded}`));
        expectNamed(await gateway.send('GET', `/api/notifications?q=${encoded}&tag=${encoded}`));
        const headers = { 'if-match': value, 'idempotency-key': value, 'x-request-id': value, accept: value };
        expectNamed(await gateway.send('PATCH', path, { body: { name: 'x' }, headers }));
        expectNamed(await gateway.send('GET', '/api/notifications', { key: null, headers: { authorization: value } }));
      }),
      { numRuns: 80 },
    );
  });

  it('in an address with any password is masked and comes back unharmed', async () => {
    const password = fc.string({ minLength: 1, maxLength: 20 }).map(encodeURIComponent);
    await fc.assert(
      fc.asyncProperty(password, async (secret) => {
        const url = `https://user:${secret}@example.com/hook`;
        const made = await gateway.send('POST', '/api/notifications', {
          body: { ...taskBody, actions: [{ ...webhookBody, config: { url } }] },
        });
        expectNamed(made);
        if (made.status !== 201) return;
        const at = `/api/notifications/${idOf(made)}`;
        const shown = await gateway.send('GET', at);
        const same = await gateway.send('PUT', at, { body: member(shown.body, 'data') });
        expect(member(same.body, 'data', 'revision')).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  it('of a task that is too large in all is refused with its largest field, and changes nothing', async () => {
    const code = 'x'.repeat(60_000);
    const actions = Array.from({ length: 5 }, () => ({ type: 'custom', config: { code: `return /* ${code} */ [];` } }));
    const before = await gateway.send('GET', path);
    for (const reply of [
      await gateway.send('POST', '/api/notifications', { body: { ...taskBody, actions } }),
      await gateway.send('PATCH', path, { body: { actions } }),
    ]) {
      expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'notification_too_large'));
      expect(member(reply.body, 'error', 'details', 0)).toMatchObject({ field: 'actions', rule: 'too_large' });
    }
    expect((await gateway.send('GET', path)).body).toEqual(before.body);
  });

  it('of more than 16 KiB is refused before it is read where no key is needed', async () => {
    const body = { email: 'a@example.com', password: 'x'.repeat(20_000) };
    const reply = await gateway.send('POST', '/api/sessions', { key: null, body });
    expect(errorOf(reply)).toEqual(refused(413, 'VALIDATION_ERROR', 'body_too_large'));
  });

  it('of more than 1 MiB is answered once it is sent, to a client that reads nothing before', async () => {
    const body = Buffer.alloc(4 * 1_048_576, ' ');
    const { hostname, port } = new URL(gateway.url);
    for (let time = 0; time < 5; time += 1) {
      const socket = connect(Number(port), hostname);
      const head = [
        'POST /api/notifications HTTP/1.1',
        `Host: ${hostname}`,
        `Authorization: Bearer ${key}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
      ];
      const sent = new Promise<Error | null | undefined>((resolve) => {
        socket.once('error', resolve);
        socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]), resolve);
      });
      expect(await sent).toBeFalsy();
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
      socket.destroy();
    }
  });

  it('in the cursor of another list is refused with its field', async () => {
    const after = Buffer.from(JSON.stringify(['2026-11-21', 'exe_1'])).toString('base64url');
    const reply = await gateway.send('GET', `${path}/history?after=${after}`);
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'after_invalid'));
  });

  it.each([
    ['GARBAGE\r\n\r\n', 400, 'malformed_request'],
    ['GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: the-impossible\r\n\r\n', 417, 'unknown_expectation'],
    ['GET / HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    [`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 400, 'headers_too_large'],
    ['BREW / HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'malformed_request'],
    ['POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n', 400, 'malformed_request'],
    ['PROPFIND /api/notifications HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 405, 'method_not_allowed'],
    ['OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 404, 'unknown_path'],
    ['GET *api/notifications HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 401, 'missing_api_key'],
    ['GET http://other/api/nothing HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 404, 'unknown_path'],
    ['GET //api//notifications HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 404, 'unknown_path'],
    [`GET /api/notifications/${'x'.repeat(9_000)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`, 0, ''],
  ])('on the wire is answered with the envelope: %j', async (bytes, status, reason) => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1', () => socket.write(bytes));
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('end', () => resolve(text)).on('error', reject);
    });
    if (status === 0) return expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain(`"reason":"${reason}"`);
    expect(answer.toLowerCase()).toContain('x-api-version: 2026-11-01');
    expect(answer).not.toContain('undefined');
  });
});
