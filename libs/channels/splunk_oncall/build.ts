/** Splunk On-Call: a notification as an alert of an incident, which recovers with the message that says it is over. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { eachEpisode, episodeKey } from '../episode.js';
import { jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, shortened } from '../text-limits.js';
import { chosenFor, detailsOf, textOf, titleOf } from '../texts.js';
import { classifySplunkOncall } from './classify.js';
import { splunkOncallDeclaration } from './declaration.js';

const alerts = 'https://alert.victorops.com/integrations/generic/20131114/alert';
const limits = { name: 255, message: 20_480, annotation: 1_124 };

type SplunkConfig = z.output<typeof splunkOncallDeclaration.config>;

/** A test wakes nobody. */
function typeOf({ messageType }: SplunkConfig, request: Notification): string {
  if (request.kind === 'test') return 'INFO';
  if (request.kind === 'recovered') return 'RECOVERY';
  return chosenFor(request, messageType) ?? (request.kind === 'error' ? 'CRITICAL' : 'WARNING');
}

function buildSplunkOncall(config: SplunkConfig, request: Notification, { linkBase }: BuildContext): HttpBatch {
  const { apiKey, routingKey } = config;
  const link = publicLink(detailsOf(request, linkBase), limits.annotation);
  const body = {
    message_type: typeOf(config, request),
    entity_id: episodeKey(request),
    entity_display_name: shortened(titleOf(request, linkBase, config), limits.name, characters),
    state_message: shortened(textOf(request, linkBase, config), limits.message, characters),
    state_start_time: Math.floor(Date.parse(request.createdAt) / 1_000),
    monitoring_tool: 'Meerkat',
    ...(link === null ? {} : { 'vo_annotate.u.Details': link }),
  };
  return { kind: 'http', requests: [jsonRequest(`${alerts}/${apiKey}/${routingKey}`, body)] };
}

export const splunkOncall = httpChannel(
  splunkOncallDeclaration,
  'POST',
  eachEpisode(buildSplunkOncall),
  classifySplunkOncall,
);
