/** What is over closes the issue of its episode also where nothing was kept of what made it. */
import { describe, expect, it } from '@jest/globals';
import type { Channel, HttpBatch, NothingToSend, PartVerdict, Receipt } from '#channels/channel';
import { channels } from '#channels/channels';
import { answerOf, settingsOf } from '#channels/every-channel.kit';
import { aNotification, kitTimeMs } from '#channels/notification.kit';
import type { VendorReceiver } from '#channels/receiver.kit';
import type { OutboundRequest } from '#outbound/outbound';
import { httpTransmission } from './http-transmission.js';

type Tracker = 'github_issue' | 'jira';
const found = { github_issue: { items: [{ number: 1347 }] }, jira: { issues: [{ key: 'OPS-24' }] } };
const none = { github_issue: { items: [] }, jira: { issues: [] } };

/** A recovery, to a vendor whose search answers that; each address that was asked, and what came of it. */
async function over(type: Tracker, searched: object): Promise<{ asked: string[]; verdicts: readonly PartVerdict[] }> {
  const { receiver } = (await import(`#channels/${type}/receiver.kit`)) as { receiver: VendorReceiver };
  const channel: Channel = channels[type];
  const [settings] = settingsOf(type);
  if (channel.transport !== 'http' || settings === undefined) throw new Error(`${type} sends no requests`);
  const asked: string[] = [];
  const build = async (receipts: readonly (Receipt | null)[]): Promise<HttpBatch | NothingToSend> => {
    const usual = { nowMs: kitTimeMs, linkBase: 'https://meerkat.example', mailFrom: 'a@example.com' };
    const request = aNotification({ kind: 'recovered' });
    const built = channel.build({ request, config: settings.config }, { ...usual, opened: null, receipts });
    if (built.kind === 'script') throw new Error(`${type} runs code`);
    return built;
  };
  const first = await build([]);
  if (first.kind !== 'http') throw new Error('it looked for nothing');
  const outbound = {
    async request(request: OutboundRequest) {
      const { origin, pathname } = new URL(request.url);
      asked.push(`${request.method} ${pathname}`);
      if (/\/search(?:\/issues|\/jql)?$/.test(pathname)) return answerOf(200, JSON.stringify(searched));
      const fitting = receiver.operations.find(
        ({ method, address }) => method === request.method && address.test(`${origin}${pathname}`),
      );
      if (fitting === undefined) throw new Error(`${type} has no ${request.method} ${request.url}`);
      const { status, body } = fitting.reply;
      return answerOf(status, typeof body === 'string' ? body : JSON.stringify(body));
    },
  };
  const sending = { outbound, clock: { now: () => kitTimeMs }, isRepeat: false, rebuild: build };
  const verdicts = await httpTransmission(channel, sending, first).transmit([], new AbortController().signal);
  return { asked, verdicts };
}

describe('what is over, of an episode whose issue nobody remembers,', () => {
  it('is looked for by its mark in GitHub, and closes the issue', async () => {
    const { asked, verdicts } = await over('github_issue', found.github_issue);
    expect(asked.map((one) => one.replace(/^(\w+) .*?(\/search\/issues|\/issues.*)$/, '$1 $2'))).toEqual([
      'GET /search/issues',
      'POST /issues/1347/comments',
      'PATCH /issues/1347',
    ]);
    expect(verdicts.map(({ verdict }) => verdict.state)).toEqual(['delivered', 'delivered', 'delivered']);
  });

  it('is looked for by its label in Jira, and closes the issue', async () => {
    const { asked, verdicts } = await over('jira', found.jira);
    expect(asked.map((one) => one.replace(/^(\w+) .*?\/(search.*|issue\/.*)$/, '$1 $2'))).toEqual([
      expect.stringMatching(/^POST search/),
      'POST issue/OPS-24/comment',
      'GET issue/OPS-24',
      'POST issue/OPS-24/transitions',
    ]);
    expect(new Set(verdicts.map(({ verdict }) => verdict.state))).toEqual(new Set(['delivered']));
  });

  it.each<Tracker>(['github_issue', 'jira'])(
    'says why nothing was closed where %s has no issue of it',
    async (type) => {
      const { asked, verdicts } = await over(type, none[type]);
      expect(asked).toHaveLength(1);
      expect(verdicts.at(-1)?.verdict).toMatchObject({
        state: 'refused',
        reason: 'nothing_to_close',
        message: expect.stringContaining('No issue of this episode was found'),
      });
    },
  );
});
