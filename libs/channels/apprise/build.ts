/** Apprise: a notification as one message, which an Apprise API server passes on to the services that it knows. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { basic, below, jsonRequest } from '../http-request.js';
import { characters, shortened } from '../text-limits.js';
import { levelOf, textOf, titleOf } from '../texts.js';
import { classifyApprise } from './classify.js';
import { appriseDeclaration } from './declaration.js';

/** The services behind it have limits of their own, to which Apprise cuts or splits. */
const limits = { title: 250, body: 16_000 };
const types = { bad: 'warning', good: 'success', broken: 'failure', none: 'info' } as const;
/** It sends to every service before it answers. */
const timeoutMs = 60_000;

function buildApprise(
  config: z.output<typeof appriseDeclaration.config>,
  request: Notification,
  { linkBase, chart = null }: BuildContext,
): HttpBatch {
  const { serverUrl, urls, key, tag, user, password } = config;
  const body = {
    title: shortened(titleOf(request, linkBase, config), limits.title, characters),
    body: shortened(textOf(request, linkBase, config), limits.body, characters),
    type: types[levelOf(request)],
    // So Apprise writes it for each service in a way that shows it as it is.
    format: 'text',
    ...(urls === undefined ? {} : { urls }),
    ...(tag === undefined ? {} : { tag }),
  };
  const headers = {
    accept: 'application/json',
    ...(user === undefined || password === undefined ? {} : { authorization: basic(user, password) }),
  };
  const url = below(serverUrl, key === undefined ? '/notify/' : `/notify/${key}`);
  const plain = { ...jsonRequest(url, body, headers), timeoutMs };
  if (chart === null) return { kind: 'http', requests: [plain] };
  const attachment = [{ filename: 'chart.png', base64: Buffer.from(chart).toString('base64') }];
  const withPicture = { ...jsonRequest(url, { ...body, attachment }, headers), timeoutMs };
  return { kind: 'http', requests: [{ ...withPicture, fallback: plain }] };
}

export const apprise = httpChannel(appriseDeclaration, 'POST', buildApprise, classifyApprise);
