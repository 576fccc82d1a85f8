/** Discord: a notification as one message of a webhook, by default with an embed that shows what the page said. */
import type { z } from 'zod';
import type { JsonObject } from '#runtime/json';
import { renderTemplate } from '#templates/templates';
import { picturePart } from '../binary-body.js';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { multipartRequest } from '../http-request.js';
import { variablesOf } from '../message.js';
import { characters, messageText, shortened } from '../text-limits.js';
import { classifyDiscord } from './classify.js';
import { discordDeclaration } from './declaration.js';
import { escapeMarkdown, shortenedMarkdown } from './markdown.js';

const timeoutMs = 10_000;
/** Discord takes values of up to 1,024; cut shorter, more of them fit into one embed. */
const limits = { content: 2_000, username: 80, title: 256, fieldName: 256, fieldValue: 200, fields: 25 };
/** Of an embed's title, names and values together. */
const embedCharacters = 6_000;
/** Names that Discord refuses. */
const refusedNames = /clyde|discord/i;
const suppressEmbeds = 4;
const usualContent = '{{ message }}{% if hint != "" %}\n{{ hint }}{% endif %}';

const colors: Readonly<Record<Notification['kind'], number>> = {
  triggered: 0xd9_8c_00,
  recovered: 0x2e_8b_57,
  error: 0xc0_39_2b,
  test: 0x60_7d_8b,
  digest: 0xd9_8c_00,
};

function fieldsOf(values: JsonObject, room: number): { name: string; value: string; inline: true }[] {
  const fields: { name: string; value: string; inline: true }[] = [];
  let left = room;
  for (const [name, value] of Object.entries(values).slice(0, limits.fields)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const field = {
      name: shortenedMarkdown(escapeMarkdown(messageText(name)), limits.fieldName),
      value: shortenedMarkdown(escapeMarkdown(messageText(text)), limits.fieldValue),
    };
    left -= characters(field.name) + characters(field.value);
    if (left < 0) break;
    fields.push({ ...field, inline: true });
  }
  return fields;
}

function embedOf({ kind, context }: Notification): object {
  const { task, execution } = context;
  const url = execution.finalUrl ?? task.url;
  const title = shortened(messageText(task.name), limits.title, characters);
  return {
    title,
    // One without a dot in its host is refused, and the message with it.
    ...(/^https?:\/\/[^/]+\.[^/]+/i.test(url) ? { url } : {}),
    color: colors[kind],
    timestamp: execution.finishedAt,
    fields: fieldsOf(execution.values, embedCharacters - characters(title)),
  };
}

function usernameOf(rendered: string): { username?: string } {
  const username = shortened(messageText(rendered), limits.username, characters);
  return refusedNames.test(username) ? {} : { username };
}

function buildDiscord(
  config: z.output<typeof discordDeclaration.config>,
  request: Notification,
  { linkBase, chart = null }: BuildContext,
): HttpBatch {
  const { webhookUrl, threadId, username, content = usualContent, embed = true, allowedRoleIds = [] } = config;
  const variables = variablesOf(request, linkBase);
  const text = renderTemplate(content, variables, escapeMarkdown);
  const marked = request.kind === 'test' ? `[Test] ${text}` : text;
  const body = {
    content: shortenedMarkdown(messageText(marked), limits.content),
    ...(username === undefined ? {} : usernameOf(renderTemplate(username, variables, 'header'))),
    // A flag of the message hides its own embeds as well as the previews of its links.
    ...(embed ? { embeds: [embedOf(request)] } : { flags: suppressEmbeds }),
    allowed_mentions: { parse: [], ...(allowedRoleIds.length === 0 ? {} : { roles: allowedRoleIds }) },
  };
  const { origin, pathname } = new URL(webhookUrl);
  // Only then is the answer the message, and not a promise of one.
  const query = new URLSearchParams({ wait: 'true', ...(threadId === undefined ? {} : { thread_id: threadId }) });
  const url = `${origin}${pathname.replace(/\/$/, '')}?${query.toString()}`;
  const headers = { 'content-type': 'application/json' };
  const message = { method: 'POST', url, headers, body: JSON.stringify(body), timeoutMs };
  if (chart === null || !embed) return { kind: 'http', requests: [message] };
  const picture = picturePart('files[0]', chart);
  const embeds = [{ ...embedOf(request), image: { url: 'attachment://chart.png' } }];
  const withPicture = multipartRequest(url, [
    { name: 'payload_json', value: JSON.stringify({ ...body, embeds }) },
    picture,
  ]);
  return { kind: 'http', requests: [{ ...withPicture, fallback: message }] };
}

export const discord = httpChannel(discordDeclaration, 'POST', buildDiscord, classifyDiscord);
