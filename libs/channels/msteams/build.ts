/** Microsoft Teams: a notification as one adaptive card, posted to a workflow. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, isBlank, shortened, type Measure } from '../text-limits.js';
import { detailsOf, pageOf, textOf, titleOf } from '../texts.js';
import { classifyTeams } from './classify.js';
import { msteamsDeclaration } from './declaration.js';

/** Teams takes some 28 KB and loses what is longer after it has accepted it. */
const limits = { title: 300, textBytes: 12_000, lines: 60, url: 1_000 };
const asJson: Measure = (text) => Buffer.byteLength(JSON.stringify(text)) - 2;

/** A run of text knows no Markdown, unlike a block of text. */
function run(text: string, more: object = {}): object {
  return { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text, ...more }] };
}

function linesOf(text: string): object[] {
  const lines = shortened(text, limits.textBytes, asJson).split('\n');
  const shown = lines.length > limits.lines ? [...lines.slice(0, limits.lines), '…'] : lines;
  return shown.filter((line) => !isBlank(line)).map((line) => run(line));
}

function buildTeams(
  config: z.output<typeof msteamsDeclaration.config>,
  request: Notification,
  { linkBase }: BuildContext,
): HttpBatch {
  const title = shortened(titleOf(request, linkBase, config), limits.title, characters);
  const links = [
    ['Details', detailsOf(request, linkBase)],
    ['Page', pageOf(request)],
  ] as const;
  const actions = links.flatMap(([name, address]) => {
    const url = publicLink(address, limits.url);
    return url === null ? [] : [{ type: 'Action.OpenUrl', title: name, url }];
  });
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [run(title, { weight: 'Bolder', size: 'Medium' }), ...linesOf(textOf(request, linkBase, config))],
    ...(actions.length === 0 ? {} : { actions }),
    msteams: { width: 'full' },
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  const body = { type: 'message', attachments: [{ contentType, contentUrl: null, content: card }] };
  return { kind: 'http', requests: [jsonRequest(config.workflowUrl, body)] };
}

export const msteams = httpChannel(msteamsDeclaration, 'POST', buildTeams, classifyTeams);
