/** Pushover: a notification as one message. One that is repeated until somebody acknowledges it ends where it is over. */
import type { z } from 'zod';
import { picturePart } from '../binary-body.js';
import { httpChannel, type BuildContext, type HttpBatch, type HttpOutgoing, type Notification } from '../channel.js';
import { episodesIn, episodeWord } from '../episode.js';
import { fieldParts, formRequest, multipartRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, shortened } from '../text-limits.js';
import { chosenFor, detailsOf, textOf, titleOf } from '../texts.js';
import { classifyPushover } from './classify.js';
import { pushoverDeclaration } from './declaration.js';

const api = 'https://api.pushover.net/1';
const limits = { title: 250, message: 1_024, url: 512 };
const emergency = 2;
const emergencyFields = { retry: '60', expire: '3600' };

type PushoverConfig = z.output<typeof pushoverDeclaration.config>;

/** What opened an episode may still be repeated. */
function endOf({ appToken, priority }: PushoverConfig, request: Notification): HttpOutgoing[] {
  const mayRepeat = priority?.triggered === emergency || priority?.error === emergency;
  if (!mayRepeat) return [];
  return episodesIn(request).flatMap(({ ended }) =>
    ended === null
      ? []
      : [formRequest(`${api}/receipts/cancel_by_tag/${episodeWord(ended)}.json`, { token: appToken })],
  );
}

/** By which the end of any of its episodes ends the repeats. */
function tagsOf(request: Notification): string {
  const open = episodesIn(request).flatMap(({ told, ended }) => (told === null || ended !== null ? [] : [told]));
  return (open.length === 0 ? [request] : open).map(episodeWord).join(',');
}

function buildPushover(
  config: PushoverConfig,
  request: Notification,
  { linkBase, chart = null }: BuildContext,
): HttpBatch {
  const { appToken, userKey, device, sound, priority } = config;
  const level = chosenFor(request, priority);
  const link = publicLink(detailsOf(request, linkBase), limits.url);
  const fields = {
    token: appToken,
    user: userKey,
    title: shortened(titleOf(request, linkBase, config), limits.title, characters),
    message: shortened(textOf(request, linkBase, config), limits.message, characters),
    timestamp: String(Math.floor(Date.parse(request.createdAt) / 1_000)),
    ...(device === undefined ? {} : { device }),
    ...(sound === undefined ? {} : { sound }),
    ...(link === null ? {} : { url: link, url_title: 'Details' }),
    ...(level === undefined ? {} : { priority: String(level) }),
    ...(level === emergency ? { ...emergencyFields, tags: tagsOf(request) } : {}),
  };
  const url = `${api}/messages.json`;
  const message = formRequest(url, fields);
  const requests =
    chart === null
      ? [message]
      : [
          {
            ...multipartRequest(url, [...fieldParts(fields), picturePart('attachment', chart)]),
            fallback: message,
          },
        ];
  return { kind: 'http', requests: [...endOf(config, request), ...requests] };
}

export const pushover = httpChannel(pushoverDeclaration, 'POST', buildPushover, classifyPushover);
