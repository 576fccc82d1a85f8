/** Every channel with a vendor, by the API and as the product sends it: to the vendor's own address, taken by its documented rules. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { JsonObject } from '#runtime/json';
import { declarationOf, type ActionType } from '#channels/declarations';
import { settingsOf, vendorTypes } from '#channels/every-channel.kit';
import { judge, type VendorReceiver, type VendorReply } from '#channels/receiver.kit';
import type { DeliveryAnswer, Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';
import { startVendors, type VendorRequest, type Vendors } from './kit/vendors.js';

let installation: Installation;
let site: PageSite;
let vendors: Vendors;
const receivers = new Map<ActionType, VendorReceiver>();
/** What each request broke, of those that came since it was last looked at. */
let faults: string[] = [];
/** What is answered instead, by the name of the host. */
const refusing = new Map<string, VendorReply>();

/** The documented rules of whatever service is at that address. */
function answer(request: VendorRequest): VendorReply {
  const { origin, pathname, hostname } = new URL(request.url);
  const refusal = refusing.get(hostname);
  if (refusal !== undefined) return refusal;
  const asked = [...receivers.values()].find(({ operations }) =>
    operations.some(({ address, method }) => method === request.method && address.test(origin + pathname)),
  );
  if (asked === undefined) {
    faults.push(`there is no ${request.method} ${request.url}`);
    return { status: 404, body: 'not found' };
  }
  const judged = judge(asked, request, Date.now());
  faults.push(...judged.faults);
  return judged.reply;
}

beforeAll(async () => {
  for (const type of vendorTypes) {
    const kit = (await import(`#channels/${type}/receiver.kit`)) as { receiver: VendorReceiver };
    receivers.set(type, kit.receiver);
  }
  [site, vendors] = await Promise.all([startPageSite(), startVendors(answer)]);
  installation = await createInstallation({
    settings: { ...vendors.settings, APPRISE_URL: 'https://apprise.example.com' },
  });
  await installation.start();
});
afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), vendors.close()]);
});

const dataOf = ({ body }: Reply): Record<string, unknown> =>
  z.object({ data: z.record(z.string(), z.unknown()) }).parse(body).data;

/** Of the ways to set a channel the first that signs nothing: signatures are of the time, which `vendors.spec.ts` of the service holds. */
function configOf(type: ActionType): JsonObject {
  const [settings] = settingsOf(type).filter(({ config }) => config['signingSecret'] === undefined);
  if (settings === undefined) throw new Error(`${type} has no settings`);
  return settings.config;
}

async function watch(type: ActionType, action: object = {}) {
  const path = `/${type}`;
  site.serve(path, html('sold out'));
  const { id, actions } = await installation.api.create({
    ...byHand(site.address(path)),
    actions: [{ type, config: configOf(type), on: ['triggered', 'recovered', 'error'], ...action }],
  });
  return {
    id,
    action: `/api/notifications/${id}/actions/${String(actions[0]?.id)}`,
    async run(inStock: boolean) {
      site.serve(path, html(inStock ? 'in stock' : 'sold out'));
      await installation.api.execute(id, 30);
    },
    untilIs: (kind: string, ...states: readonly string[]): Promise<DeliveryAnswer> =>
      until(`${kind} is ${states.join(' or ')}`, async () =>
        (await installation.api.deliveries(id)).find(
          (one) => one.type === `notification.${kind}` && states.includes(one.state),
        ),
      ),
  };
}

const attempt = z.looseObject({ response: z.looseObject({ body: z.string() }) });
const delivery = z.looseObject({ state: z.string(), attempts: z.array(attempt) });

/** Sends a test; the delivery, the whole answer, and the address that was asked last. */
async function tested(action: string) {
  const reply = await installation.api.send(`${action}/test`, { method: 'POST' });
  return { ...delivery.parse(dataOf(reply)), text: reply.text, url: vendors.received.at(-1)?.url ?? '' };
}

describe.each(vendorTypes)('the channel %s', (type) => {
  it('is saved, tested and previewed by the API, and its service finds nothing wrong', async () => {
    const watched = await watch(type);
    faults = [];
    const before = vendors.received.length;
    const { state } = await tested(watched.action);
    expect([state, faults]).toEqual(['delivered', []]);
    expect(vendors.received.length).toBeGreaterThan(before);
    const shown = await installation.api.send(`${watched.action}/preview`, { method: 'POST', json: {} });
    expect([shown.status, dataOf(shown)['error']]).toEqual([200, null]);
  });

  it('names what its service said where that refuses a test, and nothing of what gives access', async () => {
    const watched = await watch(type);
    const config = configOf(type);
    const { hostname } = new URL((await tested(watched.action)).url);
    refusing.set(hostname, { status: 400, body: `no such thing as ${JSON.stringify(config)}` });
    const { state, attempts, text } = await tested(watched.action);
    refusing.delete(hostname);
    expect(['failed', 'retrying']).toContain(state);
    expect(attempts[0]?.response.body).toMatch(/^no such thing as/);
    const { sealed, addresses } = declarationOf(type);
    const secrets = sealed.flatMap((name) => {
      const value = addresses.includes(name) ? null : config[name];
      return typeof value === 'string' && value.length > 8 ? [value] : [];
    });
    for (const secret of secrets) expect(text).not.toContain(secret);
  });
});

/** What a request says to a service that keeps an incident for each key. */
type Event = readonly [what: 'opens' | 'ends', key: string];
const body = (request: VendorRequest) => z.record(z.string(), z.unknown()).parse(JSON.parse(request.body ?? '{}'));
const eventBy =
  (key: string, state: string, over: string) =>
  (request: VendorRequest): Event => {
    const event = body(request);
    return [event[state] === over ? 'ends' : 'opens', String(event[key])];
  };
const incidents: readonly [ActionType, string, (request: VendorRequest) => Event][] = [
  ['pagerduty', 'events.pagerduty.com', eventBy('dedup_key', 'event_action', 'resolve')],
  ['incident_io', 'api.incident.io', eventBy('deduplication_key', 'status', 'resolved')],
  ['splunk_oncall', 'alert.victorops.com', eventBy('entity_id', 'message_type', 'RECOVERY')],
  [
    'opsgenie',
    'api.opsgenie.com',
    (request) => {
      const closed = /\/alerts\/([^/]+)\/close$/.exec(new URL(request.url).pathname)?.[1];
      return closed === undefined ? ['opens', String(body(request)['alias'])] : ['ends', decodeURIComponent(closed)];
    },
  ],
];
const requestsTo = (host: string): readonly VendorRequest[] =>
  vendors.received.filter(({ url }) => new URL(url).hostname === host);

type Story = readonly Event[];
const retried = new Map<ActionType, Promise<Story>>();
const gathered = new Map<ActionType, Promise<Story>>();

function inTheUs(type: ActionType): JsonObject {
  const { region: _region, ...config } = configOf(type);
  return config;
}

/** Events under the keys that stand in those of one action. */
const eventsOf = ([, host, eventOf]: (typeof incidents)[number], action: string): Story =>
  requestsTo(host)
    .map(eventOf)
    .filter(([, key]) => key.includes(action.split('/').at(-1) ?? ''));

/** A trigger that its service puts off, its end meanwhile, and the next one. */
async function withRetries(incident: (typeof incidents)[number]): Promise<Story> {
  const [type, host] = incident;
  refusing.set(host, { status: 503, body: 'not now' });
  const watched = await watch(type, { config: inTheUs(type) });
  await watched.run(true);
  await watched.untilIs('triggered', 'retrying');
  await watched.run(false);
  await watched.untilIs('recovered', 'pending');
  refusing.delete(host);
  await watched.untilIs('recovered', 'delivered');
  await watched.run(true);
  return until('the next one is opened', () => {
    const events = eventsOf(incident, watched.action);
    return new Set(events.map(([, key]) => key)).size === 2 && events;
  });
}

async function inDigest(incident: (typeof incidents)[number]): Promise<Story> {
  // Longer than two runs take on a machine that has much else to do.
  const watched = await watch(incident[0], { config: inTheUs(incident[0]), digestSeconds: 20 });
  await watched.run(true);
  await watched.run(false);
  await watched.untilIs('digest', 'delivered');
  return eventsOf(incident, watched.action);
}

describe('an incident', () => {
  // All at the same time: most of it is waiting.
  beforeAll(async () => {
    for (const incident of incidents) {
      const [type] = incident;
      const first = withRetries(incident);
      retried.set(type, first);
      gathered.set(
        type,
        first.then(() => inDigest(incident)),
      );
    }
    await Promise.allSettled(gathered.values());
  });

  it.each(incidents)('at %s is ended under the key that opened it, and never opened again', async (type) => {
    const events = (await retried.get(type)) ?? [];
    const [[, first] = [], [, second] = []] = [events[0], events.at(-1)];
    const told = events.filter(([, key]) => key === first).map(([what]) => what);
    expect([told.at(-1), new Set(told.slice(0, -1))]).toEqual(['ends', new Set(['opens'])]);
    expect(events.filter(([, key]) => key === second)).toEqual([['opens', second]]);
  });

  it.each(incidents)('at %s that began and ended within one digest is opened and ended by it', async (type) => {
    const events = (await gathered.get(type)) ?? [];
    const [[, key] = []] = [events[0]];
    expect(events).toEqual([
      ['opens', key],
      ['ends', key],
    ]);
  });
});
