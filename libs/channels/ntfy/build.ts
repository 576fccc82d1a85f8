/** ntfy: a notification as one message to a topic, in the JSON form that is posted to the root of a server. */
import type { z } from 'zod';
import { renderTemplate } from '#templates/templates';
import { pictureBody } from '../binary-body.js';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { plainTextOf, variablesOf } from '../message.js';
import { bytes, characters, messageText, shortened } from '../text-limits.js';
import { classifyNtfy } from './classify.js';
import { ntfyDeclaration } from './declaration.js';

type NtfyConfig = z.output<typeof ntfyDeclaration.config>;

const publicServer = 'https://ntfy.sh';
const timeoutMs = 10_000;
/** Longer ones become an attachment, or are refused where a server takes none. */
const messageBytes = 4_096;
const titleCharacters = 250;

function authorizationOf({ token, user, password }: NtfyConfig): Record<string, string> {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  if (user === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

/** The page, for a tap on the message. */
function clickOf({ context }: Notification): { click?: string } {
  const click = context.execution.finalUrl ?? context.task.url;
  return /^https?:\/\//i.test(click) ? { click } : {};
}

/** Text in a header, as RFC 2047 has it; ntfy decodes it. */
const encodedWord = (text: string): string => `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;

function buildNtfy(config: NtfyConfig, request: Notification, { linkBase, chart = null }: BuildContext): HttpBatch {
  const { topic, serverUrl = publicServer, title = '{{ task.name }}', message, priority, tags } = config;
  const { kind, deliveryId } = request;
  const variables = variablesOf(request, linkBase);
  const text = message === undefined ? plainTextOf(request, linkBase) : renderTemplate(message, variables, 'text');
  const marked = `${kind === 'test' ? '[Test] ' : ''}${renderTemplate(title, variables, 'header')}`;
  const level = kind === 'test' ? undefined : priority?.[kind === 'digest' ? 'triggered' : kind];
  const body = {
    topic,
    title: shortened(messageText(marked), titleCharacters, characters),
    message: shortened(messageText(text), messageBytes, bytes),
    ...(level === undefined ? {} : { priority: level }),
    ...(tags === undefined || tags.length === 0 ? {} : { tags }),
    ...clickOf(request),
    // From 2.16 on a repeat replaces the first one in the app; older servers pass over it.
    sequence_id: deliveryId,
  };
  const headers = { 'content-type': 'application/json', ...authorizationOf(config) };
  const url = serverUrl.endsWith('/') ? serverUrl : `${serverUrl}/`;
  const plain = { method: 'POST', url, headers, body: JSON.stringify(body), timeoutMs };
  if (chart === null) return { kind: 'http', requests: [plain] };
  const withPicture = {
    method: 'PUT',
    url: `${url}${topic}`,
    headers: {
      ...authorizationOf(config),
      'content-type': 'image/png',
      filename: 'chart.png',
      title: encodedWord(body.title),
      message: encodedWord(body.message.replaceAll('\n', '\\n')),
      'x-sequence-id': deliveryId,
      ...(level === undefined ? {} : { priority: String(level) }),
      ...(tags === undefined || tags.length === 0 ? {} : { tags: encodedWord(tags.join(',')) }),
      ...('click' in body ? { click: encodedWord(String(body.click)) } : {}),
    },
    body: null,
    binary: pictureBody(chart),
    timeoutMs,
    fallback: plain,
  };
  return { kind: 'http', requests: [withPicture] };
}

export const ntfy = httpChannel(ntfyDeclaration, 'POST', buildNtfy, classifyNtfy);
