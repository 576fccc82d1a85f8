/** A digest at services that keep something open for each episode: what is over is closed there, and all else stays open. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Channel, HttpBatch, NothingToSend, Receipt } from '#channels/channel';
import { channels } from '#channels/channels';
import { answerOf, settingsOf } from '#channels/every-channel.kit';
import { kitTimeMs } from '#channels/notification.kit';
import type { OutboundRequest } from '#outbound/outbound';
import { notificationOf } from './delivery.kit.js';
import { digestOf, type SentRequest } from './digest.js';
import { httpTransmission } from './http-transmission.js';

const keepers = [
  'pagerduty',
  'opsgenie',
  'incident_io',
  'grafana_oncall',
  'splunk_oncall',
  'github_issue',
  'jira',
] as const;
type Keeper = (typeof keepers)[number];

interface Told {
  readonly key: string;
  readonly isOver: boolean;
}

const fields = z.record(z.string(), z.unknown());
const jsonOf = ({ body }: OutboundRequest): Record<string, unknown> =>
  fields.parse(typeof body === 'string' ? JSON.parse(body) : {});
const byField =
  (key: string, state: string, over: string) =>
  (request: OutboundRequest): Told => {
    const event = jsonOf(request);
    return { key: String(event[key]), isOver: event[state] === over };
  };

/** What an event says to the service. */
const incidents: Readonly<Record<Exclude<Keeper, 'github_issue' | 'jira'>, (request: OutboundRequest) => Told>> = {
  pagerduty: byField('dedup_key', 'event_action', 'resolve'),
  incident_io: byField('deduplication_key', 'status', 'resolved'),
  grafana_oncall: byField('alert_uid', 'state', 'ok'),
  splunk_oncall: byField('entity_id', 'message_type', 'RECOVERY'),
  opsgenie(request) {
    const closed = /\/alerts\/([^/]+)\/close$/.exec(new URL(request.url).pathname)?.[1];
    return closed === undefined
      ? { key: String(jsonOf(request)['alias']), isOver: false }
      : { key: decodeURIComponent(closed), isOver: true };
  },
};
const accepted: Readonly<Record<keyof typeof incidents, string>> = {
  pagerduty: '{"status":"success"}',
  opsgenie: '{"result":"Request will be processed","requestId":"r"}',
  incident_io: '{"status":"success","message":"Event accepted"}',
  grafana_oncall: 'Ok.',
  splunk_oncall: '{"result":"success","entity_id":"e"}',
};

/** What is open at a service, and what was done there, in order. */
class Service {
  readonly #type: Keeper;
  readonly done: string[] = [];
  readonly #open = new Set<string>();
  readonly #issues: { readonly text: string; isOpen: boolean; isThere: boolean }[] = [];

  constructor(type: Keeper) {
    this.#type = type;
  }

  /** By a person, of the issues that there are. */
  delete(index: number): void {
    const issue = this.#issues[index];
    if (issue === undefined) throw new Error('no such issue');
    issue.isThere = false;
    issue.isOpen = false;
  }

  get openCount(): number {
    return this.#open.size + this.#issues.filter(({ isOpen }) => isOpen).length;
  }

  async request(request: OutboundRequest) {
    const type = this.#type;
    if (type === 'github_issue' || type === 'jira') return this.#tracked(request);
    const { key, isOver } = incidents[type](request);
    this.done.push(isOver ? 'closed' : this.#open.has(key) ? 'told again' : 'opened');
    if (isOver) this.#open.delete(key);
    else this.#open.add(key);
    return answerOf(type === 'grafana_oncall' ? 200 : 202, accepted[type]);
  }

  #tracked({ method, url, body }: OutboundRequest) {
    const { pathname, searchParams } = new URL(url);
    const sent = typeof body === 'string' ? body : '';
    const answer = (status: number, value: object) => answerOf(status, JSON.stringify(value));
    const named = (index: number): object => ({ number: index + 1, id: String(index + 1), key: `OPS-${index + 1}` });
    const [, place] = /\/issues?\/(?:OPS-)?(\d+)/.exec(pathname) ?? [];
    if (pathname.includes('/search')) {
      const mark = /meerkat-[0-9a-f]{24}/.exec(`${searchParams.get('q') ?? ''}${sent}`)?.[0] ?? '?';
      const found = this.#issues.flatMap((issue, index) =>
        issue.isThere && issue.text.includes(mark) ? [named(index)] : [],
      );
      return answer(200, { items: found, issues: found });
    }
    if (place === undefined) {
      this.done.push('opened');
      return answer(201, named(this.#issues.push({ text: sent, isOpen: true, isThere: true }) - 1));
    }
    const issue = this.#issues[Number(place) - 1];
    if (issue?.isThere !== true) return answer(404, {});
    if (method === 'GET') {
      const fields = { status: { statusCategory: { key: issue.isOpen ? 'new' : 'done' } } };
      return answer(200, {
        fields,
        transitions: [{ id: '31', name: 'Done', to: { statusCategory: { key: 'done' } } }],
      });
    }
    if (/\/comments?$/.test(pathname)) {
      this.done.push('told again');
      return answer(201, { id: this.#type === 'jira' ? '7' : 7 });
    }
    this.done.push('closed');
    issue.isOpen = false;
    return this.#type === 'jira' ? answerOf(204) : answer(200, named(Number(place) - 1));
  }
}

/** Sends a message as the executor does; what the receiver gave for it. */
async function send(
  type: Keeper,
  service: Service,
  request: SentRequest,
  opened: Receipt | null = null,
): Promise<void> {
  const channel: Channel = channels[type];
  const [settings] = settingsOf(type);
  if (channel.transport !== 'http' || settings === undefined) throw new Error(`${type} sends no requests`);
  const build = async (receipts: readonly (Receipt | null)[]): Promise<HttpBatch | NothingToSend> => {
    const usual = { nowMs: kitTimeMs, linkBase: 'https://meerkat.example', mailFrom: 'a@example.com' };
    const built = channel.build({ request, config: settings.config }, { ...usual, opened, receipts });
    if (built.kind === 'script') throw new Error(`${type} runs code`);
    return built;
  };
  const first = await build([]);
  if (first.kind !== 'http') throw new Error('it built nothing');
  const sending = { outbound: service, clock: { now: () => kitTimeMs }, isRepeat: false, rebuild: build };
  const verdicts = await httpTransmission(channel, sending, first).transmit([], new AbortController().signal);
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(
    verdicts.map(() => expect.objectContaining({ state: 'delivered' })),
  );
}

let nextMs = kitTimeMs;
function message(kind: 'triggered' | 'recovered' | 'error', episode: string, openedBy?: string) {
  nextMs += 1_000;
  const more = openedBy === undefined ? {} : { openedBy };
  return notificationOf({ name: `${kind} ${nextMs}`, kind, episode, createdMs: nextMs, more });
}
const digest = (...[first, ...others]: readonly ReturnType<typeof message>[]): SentRequest => {
  if (first === undefined) throw new Error('nothing to gather');
  return digestOf(first, others);
};

describe.each(keepers)('a digest by %s', (type) => {
  it('of an episode that began and ended in it tells of it and leaves nothing open', async () => {
    const service = new Service(type);
    const began = message('triggered', 'condition:1');
    await send(type, service, digest(began, message('recovered', 'condition:1', began.deliveryId)));
    expect([service.done[0], service.done.at(-1), service.openCount]).toEqual(['opened', 'closed', 0]);
  });

  it('closes what was opened before it, and leaves open what began since', async () => {
    const service = new Service(type);
    const began = message('triggered', 'condition:1');
    await send(type, service, began);
    expect(service.openCount).toBe(1);
    const ended = message('recovered', 'condition:1', began.deliveryId);
    const again = message('triggered', 'condition:2');
    await send(type, service, digest(ended, again));
    expect([service.openCount, service.done.at(-1)]).toEqual([1, 'opened']);
    await send(type, service, message('recovered', 'condition:2', again.deliveryId));
    expect([service.openCount, service.done.filter((what) => what === 'opened')]).toEqual([0, ['opened', 'opened']]);
  });

  it('keeps each of several episodes open until its own end', async () => {
    const service = new Service(type);
    const [one, broken] = [message('triggered', 'condition:1'), message('error', 'health:1')];
    await send(type, service, digest(one, broken));
    expect(service.openCount).toBe(2);
    await send(type, service, message('recovered', 'health:1', broken.deliveryId));
    expect(service.openCount).toBe(1);
    await send(type, service, message('recovered', 'condition:1', one.deliveryId));
    expect(service.openCount).toBe(0);
  });

  it('opens nothing twice, and what comes later of an episode goes to what is open', async () => {
    const service = new Service(type);
    const [one, other] = [message('triggered', 'condition:1'), message('error', 'health:1')];
    await send(type, service, digest(one, other));
    await send(type, service, message('error', 'health:1', other.deliveryId));
    await send(
      type,
      service,
      digest(message('error', 'health:1', other.deliveryId), message('triggered', 'condition:1', one.deliveryId)),
    );
    expect([service.openCount, service.done.filter((what) => what === 'opened')]).toEqual([2, ['opened', 'opened']]);
  });
});

describe.each(['github_issue', 'jira'] as const)('an episode whose issue in %s somebody deleted', (type) => {
  it('goes on in a new one, which its end closes', async () => {
    const service = new Service(type);
    const began = message('triggered', 'condition:1');
    await send(type, service, began);
    service.delete(0);
    const opened = type === 'jira' ? { key: 'OPS-1' } : { number: 1 };
    await send(type, service, message('triggered', 'condition:1', began.deliveryId), opened);
    expect([service.done, service.openCount]).toEqual([['opened', 'opened'], 1]);
    await send(type, service, message('triggered', 'condition:1', began.deliveryId), opened);
    expect([service.done.at(-1), service.openCount]).toEqual(['told again', 1]);
    await send(type, service, message('recovered', 'condition:1', began.deliveryId), opened);
    expect([service.done.at(-1), service.openCount]).toEqual(['closed', 0]);
  });

  it('keeps no digest from telling of the episodes behind it', async () => {
    const service = new Service(type);
    const began = message('triggered', 'condition:1');
    await send(type, service, began);
    service.delete(0);
    const ended = message('recovered', 'condition:1', began.deliveryId);
    const opened = type === 'jira' ? { key: 'OPS-1' } : { number: 1 };
    await send(type, service, digest(ended, message('error', 'health:1')), opened);
    expect([service.done, service.openCount]).toEqual([['opened', 'opened'], 1]);
  });
});
