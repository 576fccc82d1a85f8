/** incident.io: a notification as an event of an alert, which is resolved by the message that says it is over. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { eachEpisode, episodeKey } from '../episode.js';
import { backslashed, escapeCommonMark } from '../escapes.js';
import { jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, messageText, shortened } from '../text-limits.js';
import { detailsOf, pageOf, textOf, titleOf } from '../texts.js';
import { classifyIncidentIo } from './classify.js';
import { incidentIoDeclaration } from './declaration.js';

const events = 'https://api.incident.io/v2/alert_events/http';
const limits = { title: 250, description: 16_000, metadata: 1_000 };

function buildIncidentIo(
  config: z.output<typeof incidentIoDeclaration.config>,
  request: Notification,
  { linkBase }: BuildContext,
): HttpBatch {
  const { alertSourceId, token } = config;
  const link = publicLink(detailsOf(request, linkBase));
  const event = {
    title: shortened(titleOf(request, linkBase, config), limits.title, characters),
    description: shortened(
      textOf(request, linkBase, config, escapeCommonMark),
      limits.description,
      characters,
      backslashed,
    ),
    deduplication_key: episodeKey(request),
    ...(link === null ? {} : { source_url: link }),
    metadata: {
      kind: request.kind,
      task: request.taskId,
      page: shortened(messageText(pageOf(request)), limits.metadata, characters),
    },
  };
  const headers = { authorization: `Bearer ${token}` };
  const url = `${events}/${alertSourceId}`;
  const firing = jsonRequest(url, { ...event, status: 'firing' }, headers);
  const resolved = jsonRequest(url, { ...event, status: 'resolved' }, headers);
  if (request.kind === 'recovered') return { kind: 'http', requests: [resolved] };
  return request.kind === 'test'
    ? { kind: 'http', requests: [firing, resolved], inOrder: true }
    : { kind: 'http', requests: [firing] };
}

export const incidentIo = httpChannel(incidentIoDeclaration, 'POST', eachEpisode(buildIncidentIo), classifyIncidentIo);
