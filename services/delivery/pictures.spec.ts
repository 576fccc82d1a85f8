import { describe, expect, it } from '@jest/globals';
import type { Channel, HttpBatch, NothingToSend, Receipt } from '#channels/channel';
import { channels } from '#channels/channels';
import type { ActionType } from '#channels/declarations';
import { answerOf, settingsOf, vendorTypes } from '#channels/every-channel.kit';
import { aNotification, kitTimeMs } from '#channels/notification.kit';
import type { VendorReceiver } from '#channels/receiver.kit';
import type { OutboundRequest } from '#outbound/outbound';
import { chartPng } from './chart.js';
import { httpTransmission } from './http-transmission.js';

const chart = chartPng([
  { at: '2026-01-01T00:00:00.000Z', value: 1 },
  { at: '2026-01-02T00:00:00.000Z', value: 2 },
]);
const signature = Buffer.from('89504e470d0a1a0a', 'hex');

function holdsPicture({ body = '' }: OutboundRequest): boolean {
  return Buffer.from(body).includes(signature) || Buffer.from(body).includes('iVBORw0KGgo');
}

/** Those that are sent a picture where there is one. */
const picturing: readonly ActionType[] = [
  'slack',
  'discord',
  'mattermost',
  'telegram',
  'matrix',
  'zulip',
  'webex',
  'ntfy',
  'pushover',
  'pushbullet',
  'signal',
  'whatsapp',
  'apprise',
];

/** One message to a receiver that answers pictures with that status, and all else as its vendor does. */
async function sent(
  type: ActionType,
  pictureStatus: number | null,
  changed: (body: string) => string = (body) => body,
) {
  const { receiver } = (await import(`#channels/${type}/receiver.kit`)) as { receiver: VendorReceiver };
  const channel: Channel = channels[type];
  const [settings] = settingsOf(type);
  if (channel.transport !== 'http' || settings === undefined) throw new Error(`${type} sends no requests`);
  const requests: OutboundRequest[] = [];
  const build = async (receipts: readonly (Receipt | null)[]): Promise<HttpBatch | NothingToSend> => {
    const usual = { nowMs: kitTimeMs, linkBase: 'https://meerkat.example', mailFrom: 'a@example.com' };
    const context = { ...usual, opened: settings.opened, receipts, chart };
    const built = channel.build({ request: aNotification(), config: settings.config }, context);
    if (built.kind === 'script') throw new Error(`${type} runs code`);
    return built;
  };
  const first = await build([]);
  if (first.kind !== 'http') throw new Error(`${type} built nothing`);
  const outbound = {
    async request(request: OutboundRequest) {
      requests.push(request);
      if (pictureStatus !== null && holdsPicture(request)) return answerOf(pictureStatus, '{}');
      const { origin, pathname } = new URL(request.url);
      const fitting = receiver.operations.find(
        ({ method, address }) => method === request.method && address.test(`${origin}${pathname}`),
      );
      if (fitting === undefined) throw new Error(`${type} has no ${String(request.method)} ${request.url}`);
      const { status, headers = {}, body } = fitting.reply;
      return answerOf(status, changed(typeof body === 'string' ? body : JSON.stringify(body)), headers);
    },
  };
  const sending = { outbound, clock: { now: () => kitTimeMs }, isRepeat: false, rebuild: build };
  const verdicts = await httpTransmission(channel, sending, first).transmit([], new AbortController().signal);
  return { requests, states: verdicts.map(({ verdict }) => verdict.state) };
}

describe('a picture', () => {
  it.each(vendorTypes)('goes with a message by %s where the service takes bytes', async (type) => {
    const { requests, states } = await sent(type, null);
    expect(requests.some(holdsPicture)).toBe(picturing.includes(type));
    expect(new Set(states)).toEqual(new Set(['delivered']));
  });

  it.each(picturing)('that %s refuses is left out, and the message arrives', async (type) => {
    for (const status of [400, 413]) {
      const { requests, states } = await sent(type, status);
      expect(new Set(states)).toEqual(new Set(['delivered']));
      const withPicture = requests.filter(holdsPicture);
      expect(withPicture).toHaveLength(1);
      const texts = requests
        .filter((request) => !holdsPicture(request))
        .map(({ body = '' }) => Buffer.from(body).toString());
      expect(texts.filter((text) => /Price[ +]watch|two/.test(text))).toHaveLength(1);
    }
  });

  it.each(['slack', 'pushbullet'] as const)('by %s goes to no address but the service’s own', async (type) => {
    const { requests, states } = await sent(type, null, (body) =>
      body.replace(/https:\/\/(files|upload)\./, 'https://a.example/'),
    );
    expect(requests.some(holdsPicture)).toBe(false);
    expect(requests.every(({ url }) => new URL(url).hostname.endsWith(`${type}.com`))).toBe(true);
    expect(new Set(states)).toEqual(new Set(['delivered']));
  });

  it('makes the same bytes on every try', async () => {
    for (const type of picturing) {
      const bytesOf = async (): Promise<string[]> =>
        (await sent(type, null)).requests.map(({ body = '' }) => Buffer.from(body).toString('base64'));
      expect(await bytesOf()).toEqual(await bytesOf());
    }
  });
});
