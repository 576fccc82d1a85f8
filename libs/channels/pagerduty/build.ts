/** PagerDuty: a notification as an event of an alert, which is resolved by the message that says it is over. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { eachEpisode, episodeKey } from '../episode.js';
import { jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, messageText, shortened } from '../text-limits.js';
import { chosenFor, detailsOf, pageOf, textOf, titleOf } from '../texts.js';
import { classifyPagerDuty } from './classify.js';
import { pagerdutyDeclaration } from './declaration.js';

const hosts = { us: 'https://events.pagerduty.com', eu: 'https://events.eu.pagerduty.com' } as const;
const limits = { summary: 1_024, source: 255, details: 16_000 };

type PagerDutyConfig = z.output<typeof pagerdutyDeclaration.config>;

/** A test wakes nobody. */
function severityOf({ severity }: PagerDutyConfig, request: Notification): string {
  if (request.kind === 'test') return 'info';
  return chosenFor(request, severity) ?? (request.kind === 'error' ? 'error' : 'warning');
}

function buildPagerDuty(config: PagerDutyConfig, request: Notification, { linkBase }: BuildContext): HttpBatch {
  const { routingKey, region = 'us' } = config;
  const url = `${hosts[region]}/v2/enqueue`;
  const event = { routing_key: routingKey, dedup_key: episodeKey(request) };
  const details = publicLink(detailsOf(request, linkBase));
  const page = publicLink(pageOf(request));
  const { task, execution } = request.context;
  const trigger = jsonRequest(url, {
    ...event,
    event_action: 'trigger',
    client: 'Meerkat',
    ...(details === null ? {} : { client_url: details }),
    ...(page === null ? {} : { links: [{ href: page, text: 'Page' }] }),
    payload: {
      summary: shortened(
        `${titleOf(request, linkBase, config)}: ${messageText(request.context.message)}`,
        limits.summary,
        characters,
      ),
      source: shortened(messageText(task.url), limits.source, characters),
      severity: severityOf(config, request),
      timestamp: execution.finishedAt,
      custom_details: { text: shortened(textOf(request, linkBase, config), limits.details, characters) },
    },
  });
  const resolve = jsonRequest(url, { ...event, event_action: 'resolve' });
  if (request.kind === 'recovered') return { kind: 'http', requests: [resolve] };
  return request.kind === 'test'
    ? { kind: 'http', requests: [trigger, resolve], inOrder: true }
    : { kind: 'http', requests: [trigger] };
}

export const pagerduty = httpChannel(pagerdutyDeclaration, 'POST', eachEpisode(buildPagerDuty), classifyPagerDuty);
