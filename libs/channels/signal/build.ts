/** Signal: a notification as one message to each receiver; later ones of an episode quote the first. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { basic, below, jsonRequest } from '../http-request.js';
import { bytes, shortened } from '../text-limits.js';
import { wholeTextOf } from '../texts.js';
import { classifySignal } from './classify.js';
import { signalDeclaration } from './declaration.js';

/** Longer ones are sent as a file. */
const longestBytes = 2_000;
/** In its usual mode each call starts a program. */
const timeoutMs = 60_000;

function buildSignal(
  config: z.output<typeof signalDeclaration.config>,
  request: Notification,
  { linkBase, chart = null }: BuildContext,
): HttpBatch {
  const { serverUrl, number, recipients, user, password } = config;
  const message = shortened(wholeTextOf(request, linkBase, config), longestBytes, bytes);
  const headers: Record<string, string> =
    user === undefined || password === undefined ? {} : { authorization: basic(user, password) };
  const url = below(serverUrl, '/v2/send');
  // One call for each: where one of several fails, an answer says so of all.
  const requests = recipients.map((recipient) => {
    const body = { number, recipients: [recipient], message, text_mode: 'normal' };
    const plain = { ...jsonRequest(url, body, headers), timeoutMs };
    if (chart === null) return plain;
    const picture = `data:image/png;filename=chart.png;base64,${Buffer.from(chart).toString('base64')}`;
    const withPicture = jsonRequest(url, { ...body, base64_attachments: [picture] }, headers);
    return { ...withPicture, timeoutMs, fallback: plain };
  });
  return { kind: 'http', requests };
}

export const signal = httpChannel(signalDeclaration, 'POST', buildSignal, classifySignal);
