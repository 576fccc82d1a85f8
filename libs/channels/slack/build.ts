/** Slack: a notification as one message, by a webhook, or by a bot, which puts later ones of an episode into its thread. */
import type { z } from 'zod';
import { pictureBody } from '../binary-body.js';
import {
  httpChannel,
  type BuildContext,
  type HttpBatch,
  type HttpOutgoing,
  type Notification,
  type Receipt,
} from '../channel.js';
import { entity, withEntities } from '../escapes.js';
import { formRequest, jsonRequest, usualTimeoutMs } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, shortened } from '../text-limits.js';
import { detailsOf, pageOf, textOf, titleOf } from '../texts.js';
import { classifySlack } from './classify.js';
import { slackDeclaration } from './declaration.js';

type SlackConfig = z.output<typeof slackDeclaration.config>;

const api = 'https://slack.com/api';
const pictureName = 'chart.png';
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

/** Where Slack wants the bytes: it names the address itself, and they go nowhere else. */
function uploadAddress(receipt: Receipt | null | undefined): string | null {
  const address = receipt?.['uploadUrl'];
  if (typeof address !== 'string' || !URL.canParse(address)) return null;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' && /^(?:[a-z0-9-]+\.)+slack(?:-gov)?\.com$/.test(hostname) ? address : null;
}

/** Behind the text, into the thread of the message. Bytes are taken from bots alone, in three steps. */
function withPicture(
  message: HttpOutgoing,
  chart: Uint8Array,
  { botToken = '', channelId }: SlackConfig,
  { opened, receipts = [] }: BuildContext,
): HttpBatch {
  const authorization = `Bearer ${botToken}`;
  const asked = formRequest(
    `${api}/files.getUploadURLExternal`,
    { filename: pictureName, length: String(chart.length) },
    { authorization },
  );
  const requests: HttpOutgoing[] = [message, { ...asked, optional: true, step: 'place' }];
  const [sent, place, uploaded] = receipts;
  const address = uploadAddress(place);
  if (address === null) return { kind: 'http', requests, inOrder: true, more: receipts.length < requests.length };
  requests.push({
    method: 'POST',
    url: address,
    headers: { 'content-type': 'image/png' },
    body: null,
    binary: pictureBody(chart),
    timeoutMs: usualTimeoutMs,
    optional: true,
    step: 'upload',
  });
  if (receipts.length < requests.length) return { kind: 'http', requests, inOrder: true, more: true };
  if (uploaded?.['uploaded'] !== true) return { kind: 'http', requests, inOrder: true };
  const threadTs = opened?.['ts'] ?? sent?.['ts'];
  const share = {
    files: [{ id: place?.['fileId'], title: pictureName }],
    channel_id: channelId,
    ...(typeof threadTs === 'string' ? { thread_ts: threadTs } : {}),
  };
  const shared = jsonRequest(`${api}/files.completeUploadExternal`, share, {
    authorization,
    'content-type': 'application/json; charset=utf-8',
  });
  requests.push({ ...shared, optional: true, step: 'share' });
  return { kind: 'http', requests, inOrder: true };
}

function buildSlack(config: SlackConfig, request: Notification, context: BuildContext): HttpBatch {
  const { linkBase, opened, chart = null } = context;
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
          `${api}/chat.postMessage`,
          { authorization: `Bearer ${botToken}`, 'content-type': 'application/json; charset=utf-8' },
          'api',
        ];
  const withBlocks = jsonRequest(url, { ...message, blocks: blocksOf(config, request, linkBase) }, headers);
  const fallback = { ...jsonRequest(url, message, headers), step };
  const sent = { ...withBlocks, step, fallback };
  return chart === null || botToken === undefined
    ? { kind: 'http', requests: [sent] }
    : withPicture(sent, chart, config, context);
}

export const slack = httpChannel(slackDeclaration, 'POST', buildSlack, classifySlack, { usesThread: true });
