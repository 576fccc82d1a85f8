/** Gotify: a notification as one message of an application. A tap on it opens the page. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { below, jsonRequest } from '../http-request.js';
import { characters, shortened } from '../text-limits.js';
import { chosenFor, pageOf, textOf, titleOf } from '../texts.js';
import { classifyGotify } from './classify.js';
import { gotifyDeclaration } from './declaration.js';

/** None is documented; what a phone shows has an end. */
const limits = { title: 250, text: 16_000 };
const usualPriority = 5;

function buildGotify(
  config: z.output<typeof gotifyDeclaration.config>,
  request: Notification,
  { linkBase }: BuildContext,
): HttpBatch {
  const { serverUrl, token, priority } = config;
  const page = pageOf(request);
  const body = {
    title: shortened(titleOf(request, linkBase, config), limits.title, characters),
    message: shortened(textOf(request, linkBase, config), limits.text, characters),
    priority: chosenFor(request, priority) ?? usualPriority,
    extras: {
      'client::display': { contentType: 'text/plain' },
      ...(/^https?:\/\//i.test(page) ? { 'client::notification': { click: { url: page } } } : {}),
    },
  };
  return { kind: 'http', requests: [jsonRequest(below(serverUrl, '/message'), body, { 'x-gotify-key': token })] };
}

export const gotify = httpChannel(gotifyDeclaration, 'POST', buildGotify, classifyGotify);
