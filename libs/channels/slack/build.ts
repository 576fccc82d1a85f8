/** Slack: a notification as one message, by a webhook, or by a bot, which puts later ones of an episode into its thread. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { entity, withEntities } from '../escapes.js';
import { jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, shortened } from '../text-limits.js';
import { detailsOf, pageOf, textOf, titleOf } from '../texts.js';
import { classifySlack } from './classify.js';
import { slackDeclaration } from './declaration.js';

type SlackConfig = z.output<typeof slackDeclaration.config>;

const postMessage = 'https://slack.com/api/chat.postMessage';
const limits = { text: 4_000, header: 150, section: 3_000, url: 3_000 };

function mentionOf(id: string): string {
  if (id === 'here' || id === 'channel') return `<!${id}>`;
  return id.startsWith('S') ? `<!subteam^${id}>` : `<@${id}>`;
}

function buttonsOf(request: Notification, linkBase: string): object[] {
  const addresses = [
    ['Details', detailsOf(request, linkBase)],
    ['Page', pageOf(request)],
  ] as const;
  return addresses.flatMap(([text, address]) => {
    const url = publicLink(address, limits.url);
    return url === null ? [] : [{ type: 'button', text: { type: 'plain_text', text }, url }];
  });
}

/** What a page said stands in `plain_text`, where nothing of it means anything. */
function blocksOf(config: SlackConfig, request: Notification, linkBase: string): object[] {
  const plain = (text: string, limit: number): object => ({
    type: 'plain_text',
    text: shortened(text, limit, characters),
    emoji: false,
  });
  const { mentions = [] } = config;
  const elements = buttonsOf(request, linkBase);
  return [
    { type: 'header', text: plain(titleOf(request, linkBase, config), limits.header) },
    { type: 'section', text: plain(textOf(request, linkBase, config), limits.section) },
    ...(mentions.length === 0 || request.kind === 'recovered'
      ? []
      : [{ type: 'section', text: { type: 'mrkdwn', text: mentions.map(mentionOf).join(' ') } }]),
    ...(elements.length === 0 ? [] : [{ type: 'actions', elements }]),
  ];
}

function buildSlack(config: SlackConfig, request: Notification, { linkBase, opened }: BuildContext): HttpBatch {
  const { webhookUrl, botToken, channelId } = config;
  const title = titleOf(request, linkBase, config, withEntities);
  const text = textOf(request, linkBase, config, withEntities);
  const threadTs = opened?.['ts'];
  const message = {
    text: shortened(`${title}: ${text}`, limits.text, characters, entity),
    unfurl_links: false,
    unfurl_media: false,
    ...(botToken === undefined ? {} : { channel: channelId }),
    // So that the channel sees, not the thread alone, that it is over.
    ...(typeof threadTs === 'string' && botToken !== undefined
      ? { thread_ts: threadTs, reply_broadcast: request.kind === 'recovered' }
      : {}),
  };
  const [url, headers, step] =
    botToken === undefined
      ? [webhookUrl ?? '', {}, 'webhook']
      : [
          postMessage,
          { authorization: `Bearer ${botToken}`, 'content-type': 'application/json; charset=utf-8' },
          'api',
        ];
  const withBlocks = jsonRequest(url, { ...message, blocks: blocksOf(config, request, linkBase) }, headers);
  const fallback = { ...jsonRequest(url, message, headers), step };
  return { kind: 'http', requests: [{ ...withBlocks, step, fallback }] };
}

export const slack = httpChannel(slackDeclaration, 'POST', buildSlack, classifySlack, { usesThread: true });
