/** Opsgenie: a notification as an alert, which is closed by the message that says it is over. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { eachEpisode, episodeKey } from '../episode.js';
import { entity, withEntities } from '../escapes.js';
import { jsonRequest } from '../http-request.js';
import { characters, messageText, shortened } from '../text-limits.js';
import { chosenFor, detailsOf, pageOf, textOf, titleOf } from '../texts.js';
import { classifyOpsgenie } from './classify.js';
import { opsgenieDeclaration } from './declaration.js';

const alerts = {
  us: 'https://api.opsgenie.com/v2/alerts',
  eu: 'https://api.eu.opsgenie.com/v2/alerts',
  jsm: 'https://api.atlassian.com/jsm/ops/integration/v2/alerts',
} as const;
const limits = { message: 130, description: 15_000, entity: 512, detail: 1_000, note: 25_000 };
const source = 'Meerkat';

function buildOpsgenie(
  config: z.output<typeof opsgenieDeclaration.config>,
  request: Notification,
  { linkBase }: BuildContext,
): HttpBatch {
  const { apiKey, region = 'us', priority, tags } = config;
  const headers = { authorization: `GenieKey ${apiKey}` };
  const alias = episodeKey(request);
  const said = shortened(messageText(request.context.message), limits.note, characters);
  const plain = (text: string, limit: number): string => shortened(messageText(text), limit, characters);
  const create = jsonRequest(
    alerts[region],
    {
      message: plain(`${titleOf(request, linkBase, config)}`, limits.message),
      alias,
      description: shortened(textOf(request, linkBase, config, withEntities), limits.description, characters, entity),
      details: {
        page: plain(pageOf(request), limits.detail),
        execution: plain(detailsOf(request, linkBase), limits.detail),
      },
      entity: plain(request.context.task.name, limits.entity),
      source,
      // A test wakes nobody.
      priority: request.kind === 'test' ? 'P5' : (chosenFor(request, priority) ?? 'P3'),
      ...(tags === undefined ? {} : { tags }),
    },
    headers,
  );
  const closing = `${alerts[region]}/${encodeURIComponent(alias)}/close?identifierType=alias`;
  const close = jsonRequest(closing, { source, note: said }, headers);
  if (request.kind === 'recovered') return { kind: 'http', requests: [close] };
  return request.kind === 'test'
    ? { kind: 'http', requests: [create, close], inOrder: true }
    : { kind: 'http', requests: [create] };
}

export const opsgenie = httpChannel(opsgenieDeclaration, 'POST', eachEpisode(buildOpsgenie), classifyOpsgenie);
