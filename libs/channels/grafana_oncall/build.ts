/** Grafana OnCall: a notification as an alert of a group, which is resolved by the message that says it is over. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { eachEpisode, episodeKey } from '../episode.js';
import { backslashed, escapeCommonMark } from '../escapes.js';
import { jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, shortened } from '../text-limits.js';
import { detailsOf, textOf, titleOf } from '../texts.js';
import { classifyGrafanaOncall } from './classify.js';
import { grafanaOncallDeclaration } from './declaration.js';

const limits = { title: 250, message: 8_000 };

function buildGrafanaOncall(
  config: z.output<typeof grafanaOncallDeclaration.config>,
  request: Notification,
  { linkBase }: BuildContext,
): HttpBatch {
  const link = publicLink(detailsOf(request, linkBase));
  const alert = {
    alert_uid: episodeKey(request),
    // Templates of the integration make Markdown of both.
    title: shortened(titleOf(request, linkBase, config, escapeCommonMark), limits.title, characters, backslashed),
    message: shortened(textOf(request, linkBase, config, escapeCommonMark), limits.message, characters, backslashed),
    ...(link === null ? {} : { link_to_upstream_details: link }),
  };
  // Without the slash at its end the address is redirected.
  const url = config.webhookUrl.endsWith('/') ? config.webhookUrl : `${config.webhookUrl}/`;
  const alerting = jsonRequest(url, { ...alert, state: 'alerting' });
  const ok = jsonRequest(url, { ...alert, state: 'ok' });
  if (request.kind === 'recovered') return { kind: 'http', requests: [ok] };
  return request.kind === 'test'
    ? { kind: 'http', requests: [alerting, ok], inOrder: true }
    : { kind: 'http', requests: [alerting] };
}

export const grafanaOncall = httpChannel(
  grafanaOncallDeclaration,
  'POST',
  eachEpisode(buildGrafanaOncall),
  classifyGrafanaOncall,
);
