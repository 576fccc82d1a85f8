/** AWS SNS: a notification as one message of a topic, signed anew at each attempt. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { episodeKey } from '../episode.js';
import { formRequest } from '../http-request.js';
import { bytes, shortened } from '../text-limits.js';
import { textOf, titleOf } from '../texts.js';
import { classifyAwsSns } from './classify.js';
import { awsSnsDeclaration } from './declaration.js';
import { signedHeaders } from './signature.js';

/** A subject is ASCII, below 100 characters; a message has 262,144 bytes, its attributes included. */
const limits = { subject: 99, messageBytes: 200_000 };

/** ASCII that begins with a letter or digit; what it has no sign for is a question mark. */
function subjectOf(title: string): string {
  const ascii = title
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^\u0020-\u007e]+/g, '?')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, limits.subject)
    .trim();
  return ascii === '' ? 'Meerkat' : ascii;
}

function attributesOf(attributes: Readonly<Record<string, string>>): Record<string, string> {
  const fields = Object.entries(attributes).flatMap(([name, value], index) => {
    const at = `MessageAttributes.entry.${index + 1}`;
    return [
      [`${at}.Name`, name],
      [`${at}.Value.DataType`, 'String'],
      [`${at}.Value.StringValue`, value],
    ] as const;
  });
  return Object.fromEntries(fields);
}

function buildAwsSns(
  config: z.output<typeof awsSnsDeclaration.config>,
  request: Notification,
  { linkBase, nowMs }: BuildContext,
): HttpBatch {
  const { topicArn, serverUrl } = config;
  const region = topicArn.split(':')[3] ?? '';
  const host = `sns.${region}.amazonaws.com${topicArn.startsWith('arn:aws-cn:') ? '.cn' : ''}`;
  const url = serverUrl === undefined ? `https://${host}/` : new URL(serverUrl).href;
  const outgoing = formRequest(url, {
    Action: 'Publish',
    Version: '2010-03-31',
    TopicArn: topicArn,
    Subject: subjectOf(titleOf(request, linkBase, config)),
    Message: shortened(textOf(request, linkBase, config), limits.messageBytes, bytes),
    ...attributesOf({ kind: request.kind, task: request.taskId, episode: episodeKey(request) }),
    // In a topic of this kind the same id again, within five minutes, makes no second message.
    ...(topicArn.endsWith('.fifo')
      ? { MessageGroupId: episodeKey(request), MessageDeduplicationId: request.deliveryId }
      : {}),
  });
  const headers = signedHeaders(
    { ...outgoing, body: outgoing.body ?? '' },
    { ...config, region, service: 'sns' },
    nowMs,
  );
  return { kind: 'http', requests: [{ ...outgoing, headers }] };
}

export const awsSns = httpChannel(awsSnsDeclaration, 'POST', buildAwsSns, classifyAwsSns);
