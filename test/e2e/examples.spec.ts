/** The OpenAPI document: the example of every operation is sent as it stands, and answered as the document says, body and all. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';
import { createInstallation } from './kit/create-installation.js';
import { startHookSink, type HookSink } from './kit/hook-sink.js';
import type { Installation } from './kit/installation.js';
import { startMailSink, type MailSink } from './kit/mail-sink.js';
import { addPerson, codeOf, invite, signIn, tokenOf, type Person } from './kit/people.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { whenInStock } from './kit/settings.js';
import { until } from './kit/until.js';

const operation = z.looseObject({
  operationId: z.string(),
  parameters: z
    .array(
      z.looseObject({
        name: z.string().optional(),
        in: z.string().optional(),
        example: z.union([z.string(), z.number()]).optional(),
      }),
    )
    .default([]),
  requestBody: z
    .object({ required: z.boolean(), content: z.record(z.string(), z.looseObject({ example: z.json().optional() })) })
    .optional(),
  responses: z.record(z.string(), z.looseObject({ content: z.record(z.string(), z.unknown()).optional() })),
});
type Operation = z.infer<typeof operation>;
const openApi = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({ schemas: z.record(z.string(), z.json()) }),
});
const withId = z.object({ data: z.looseObject({ id: z.string() }) });

const owner = { OWNER_EMAIL: 'owner@example.com', OWNER_PASSWORD: 'correct horse battery staple' };

let installation: Installation;
let site: PageSite;
let hooks: HookSink;
let mails: MailSink;
let cookie = '';

/** What the ids of the examples stand for. */
interface Made {
  readonly notifications: string;
  readonly actions: string;
  readonly executions: string;
  readonly deliveries: string;
  readonly keys: string;
  readonly members: string;
  readonly organizations: string;
  readonly token: string;
}

/** What is sent to some operations as somebody who is signed in, or with a link of their own. */
interface Prepared {
  readonly by?: Person;
  readonly token?: string;
  readonly body?: unknown;
}

const begun = z.object({ data: z.object({ secret: z.string() }) });

async function withSecondFactor(person: Person): Promise<Prepared> {
  const json = { password: owner.OWNER_PASSWORD };
  const { secret } = begun.parse((await person.send('/api/account/second-factor', { json })).body).data;
  return { by: person, body: { code: codeOf(secret) } };
}

async function resetToken(): Promise<string> {
  const { email } = await addPerson(installation, 'viewer');
  await installation.api.send('/api/password-resets', { json: { email }, key: null });
  const mail = await until(
    'the link came',
    () =>
      mails.taken().find(({ recipients, subject }) => recipients.includes(email) && subject.includes('password')) ??
      null,
  );
  return tokenOf(/https?:\S+/.exec(mail.text)?.[0] ?? '');
}

const operator = async (): Promise<Prepared> => ({ by: await signIn(installation) });
const somebody = async (): Promise<Prepared> => ({ by: await addPerson(installation, 'viewer') });

/** The contact of the examples; where it is there already, it stays. */
async function contact(): Promise<Prepared> {
  await installation.api.send('/api/contacts', {
    method: 'POST',
    json: { name: 'ops', type: 'webhook', config: { url: hooks.address('/ops') } },
  });
  return {};
}

const prepared: Readonly<Record<string, () => Promise<Prepared>>> = {
  getContact: contact,
  replaceContact: contact,
  patchContact: contact,
  deleteContact: contact,
  rotateContactSecret: contact,
  revealKey: operator,
  listOrganizations: operator,
  foundOrganization: operator,
  changeAnyOrganization: operator,
  getInvitation: async () => ({ token: (await invite(installation, 'viewer')).token }),
  takeInvitation: async () => ({ token: (await invite(installation, 'viewer')).token }),
  changePassword: somebody,
  getSecondFactor: somebody,
  beginSecondFactor: somebody,
  removeSecondFactor: somebody,
  confirmSecondFactor: async () => withSecondFactor(await addPerson(installation, 'viewer')),
  getPasswordReset: async () => ({ token: await resetToken() }),
  resetPassword: async () => ({ token: await resetToken() }),
};

beforeAll(async () => {
  [site, hooks, mails] = await Promise.all([startPageSite(), startHookSink(), startMailSink()]);
  site.serve('/shop', html('in stock'));
  installation = await createInstallation({ smtpUrl: mails.url, settings: owner });
  await installation.start();
});

afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), hooks.close(), mails.close()]);
});

/** A task with a few revisions, a run that notified, and a candidate beside it. */
async function made(): Promise<Made> {
  const { api } = installation;
  const action = { type: 'webhook', config: { url: hooks.address('/hook') }, on: ['triggered'] };
  const settings = { ...whenInStock(site.address('/shop')), schedule: { type: 'manual' }, actions: [action] };
  const { id, actions } = await api.create(settings);
  for (const name of ['one', 'two', 'three']) {
    await api.send(`/api/notifications/${id}`, { method: 'PATCH', json: { name } });
  }
  const { id: executions } = await api.execute(id, 30);
  await api.send(`/api/notifications/${id}/shadow`, { method: 'PUT', json: { policy: { confirmations: 2 } } });
  const delivery = await until('its delivery is there', async () => (await api.deliveries(id))[0] ?? null);
  const key = await api.send('/api/keys', { method: 'POST', json: { name: 'example', scopes: ['read'] } });
  return {
    notifications: id,
    actions: actions[0]?.id ?? '',
    executions,
    deliveries: delivery.id,
    keys: withId.parse(key.body).data.id,
    members: (await invite(installation, 'viewer')).id,
    organizations: withId.parse((await api.send('/api/organization')).body).data.id,
    token: '',
  };
}

function pathFor(template: string, ids: Made): string {
  return template
    .replace('{actionId}', ids.actions)
    .replace('{token}', ids.token)
    .replace('{name}', 'ops')
    .replace(/\/api\/(\w+)\/\{id\}/, (_all, what: string) => `/api/${what}/${ids[what as keyof Made]}`);
}

/** The status and the content type; the rest of the answer is not waited for, since a stream has no end. */
async function send(method: string, path: string, body: unknown, by: Person | undefined) {
  const closing = new AbortController();
  const answer = await fetch(installation.url + path, {
    method: method.toUpperCase(),
    headers: {
      ...(by === undefined ? { authorization: `Bearer ${installation.apiKey}` } : { cookie: by.cookie }),
      ...(path === '/api/sessions/current' ? { cookie, origin: installation.url } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: closing.signal,
  });
  if (path === '/api/sessions') cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const contentType = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
  const text = contentType === 'text/event-stream' ? '' : await answer.text();
  closing.abort();
  return { status: answer.status, contentType, text };
}

function expectExamples({ operationId, parameters, requestBody }: Operation): void {
  const named = parameters.filter((one) => one.in === 'path' || one.in === 'query');
  const missing = named.filter(({ example }) => example === undefined).map(({ name }) => name);
  const bodies = Object.entries(requestBody?.content ?? {}).filter(([, { example }]) => example === undefined);
  expect({ operationId, missing, bodies: bodies.map(([type]) => type) }).toEqual({
    operationId,
    missing: [],
    bodies: [],
  });
}

/** What is not there here: this installation is set up already, and no browser has rendered its pages. */
const isOver: ReadonlySet<string> = new Set(['setup', 'getExecutionScreenshot']);

function isDocumented({ operationId, responses }: Operation, status: number, contentType: string): boolean {
  const documented = responses[String(status)];
  // Errors are named once for all operations.
  if (isOver.has(operationId)) return documented !== undefined;
  return Object.keys(documented?.content ?? {}).some((type) => type.split(';')[0] === contentType);
}

/** Each parameter of the query by itself, as its example has it: some name times or ids that here are others. */
function queriesOf({ parameters }: Operation, ids: Made): readonly string[] {
  const now = Date.now();
  const stand: Readonly<Record<string, string>> = {
    at: new Date(now).toISOString(),
    from: new Date(now - 3_600_000).toISOString(),
    to: new Date(now + 3_600_000).toISOString(),
    notificationId: ids.notifications,
  };
  return parameters
    .filter((one) => one.in === 'query')
    .map(({ name = '', example = '' }) => `?${name}=${encodeURIComponent(stand[name] ?? String(example))}`);
}

const documentId = 'https://meerkat.test/openapi.json';

/** What is wrong with the body of an answer by the schema that the document has for it; empty where nothing is. */
function bodyChecker(document: object) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ ...document, $id: documentId });
  const pointer = (...names: readonly string[]): string =>
    names.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
  return (path: string, method: string, status: number, text: string): readonly string[] => {
    const place = pointer('paths', path, method, 'responses', String(status), 'content', 'application/json', 'schema');
    const check = ajv.getSchema(`${documentId}#/${place}`);
    if (check === undefined) return ['the document has no schema'];
    void check(JSON.parse(text));
    return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message ?? ''}`);
  };
}

describe('the OpenAPI document', () => {
  it('has an example for every operation, which is answered as documented', async () => {
    const document = openApi.parse((await installation.api.send('/api/openapi.json')).body);
    const { paths } = document;
    const faultsOf = bodyChecker(document);
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, found]) => ({ path, method, found })),
    );
    expect(operations.length).toBeGreaterThan(40);
    for (const { found } of operations) expectExamples(found);
    const shared = await made();
    const failed: unknown[] = [];
    const sent = operations.flatMap((one) => ['', ...queriesOf(one.found, shared)].map((query) => ({ ...one, query })));
    for (const { path, method, found, query } of sent) {
      const { operationId } = found;
      const ids = method === 'get' ? shared : await made();
      const { by, token = '', body: own } = (await prepared[operationId]?.()) ?? {};
      const body = own ?? found.requestBody?.content['application/json']?.example;
      const { status, contentType, text } = await send(method, pathFor(path, { ...ids, token }) + query, body, by);
      const isFine = isDocumented(found, status, contentType) && status < 300 !== isOver.has(operationId);
      const seen = { operationId, query, status, text: text.slice(0, 300) };
      if (!isFine) failed.push({ ...seen, contentType });
      const faults =
        contentType === 'application/json' && isFine && status < 300 ? faultsOf(path, method, status, text) : [];
      if (faults.length > 0) failed.push({ ...seen, faults });
    }
    expect(sent.length).toBeGreaterThan(operations.length);
    expect(failed).toEqual([]);
  });
});
