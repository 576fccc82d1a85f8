/** Home Assistant: a notification as a call of a service, or as the data of an automation. */
import type { z } from 'zod';
import { escapeCommonMark, backslashed } from '../escapes.js';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { episodeKey, episodeWord } from '../episode.js';
import { below, jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { bytes, characters, shortened } from '../text-limits.js';
import { detailsOf, pageOf, textOf, titleOf } from '../texts.js';
import { classifyHomeassistant } from './classify.js';
import { homeassistantDeclaration } from './declaration.js';

type HomeassistantConfig = z.output<typeof homeassistantDeclaration.config>;

/** What is pushed to a phone has some 4 KB. */
const limits = { title: 200, textBytes: 2_000, url: 500 };
const persistent = 'persistent_notification';

function callOf(config: HomeassistantConfig, request: Notification, linkBase: string): [path: string, data: object] {
  const title = shortened(titleOf(request, linkBase, config), limits.title, characters);
  if (config.service === persistent) {
    const text = textOf(request, linkBase, config, escapeCommonMark);
    const message = shortened(text, limits.textBytes, bytes, backslashed);
    // A later one with the same id takes the place of the first.
    return [`${persistent}/create`, { title, message, notification_id: episodeWord(request) }];
  }
  const link = publicLink(detailsOf(request, linkBase), limits.url);
  const data = { tag: episodeWord(request), ...(link === null ? {} : { url: link, clickAction: link }) };
  const message = shortened(textOf(request, linkBase, config), limits.textBytes, bytes);
  return [`notify/${config.service ?? ''}`, { title, message, data }];
}

function buildHomeassistant(config: HomeassistantConfig, request: Notification, { linkBase }: BuildContext): HttpBatch {
  const { serverUrl, token, webhookUrl } = config;
  if (serverUrl !== undefined) {
    const [path, data] = callOf(config, request, linkBase);
    const call = jsonRequest(below(serverUrl, `/api/services/${path}`), data, { authorization: `Bearer ${token}` });
    return { kind: 'http', requests: [{ ...call, step: 'service' }] };
  }
  const data = {
    kind: request.kind,
    episode: episodeKey(request),
    title: shortened(titleOf(request, linkBase, config), limits.title, characters),
    message: shortened(textOf(request, linkBase, config), limits.textBytes, bytes),
    page: pageOf(request),
    details: detailsOf(request, linkBase),
  };
  return { kind: 'http', requests: [{ ...jsonRequest(webhookUrl ?? '', data), step: 'webhook' }] };
}

export const homeassistant = httpChannel(homeassistantDeclaration, 'POST', buildHomeassistant, classifyHomeassistant);
