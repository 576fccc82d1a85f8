/** WhatsApp: a notification as one message by an approved template, whose variables are headline and text. */
import type { z } from 'zod';
import { picturePart } from '../binary-body.js';
import { httpChannel, type BuildContext, type HttpBatch, type HttpOutgoing, type Notification } from '../channel.js';
import { jsonRequest, multipartRequest } from '../http-request.js';
import { characters, shortened } from '../text-limits.js';
import { shortTextOf, titleOf } from '../texts.js';
import { classifyWhatsapp } from './classify.js';
import { whatsappDeclaration } from './declaration.js';

const usualVersion = 'v23.0';
/** A body has 1,024 with its variables. */
const limits = { title: 200, text: 700 };

/** What begins or ends a format; an underscore inside a word, as in an address, does neither. */
const markup = /[*~`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;

/** A variable is one line; there is no way to show a sign of markup as it is. */
const variable = (text: string, limit: number): string =>
  shortened(text.replace(markup, '').replace(/\s+/g, ' ').trim() || '–', limit, characters);

function buildWhatsapp(
  config: z.output<typeof whatsappDeclaration.config>,
  request: Notification,
  { linkBase, receipts = [], chart = null }: BuildContext,
): HttpBatch {
  const { phoneNumberId, token, apiVersion = usualVersion, to, templateName, pictureTemplateName, language } = config;
  const parameters = [
    variable(titleOf(request, linkBase, config), limits.title),
    variable(shortTextOf(request, linkBase, config), limits.text),
  ].map((text) => ({ type: 'text', text }));
  const url = `https://graph.facebook.com/${apiVersion}/${phoneNumberId}`;
  const headers = { authorization: `Bearer ${token}` };
  const message = (name: string, ...above: readonly object[]): HttpOutgoing => {
    const components = [...above, { type: 'body', parameters }];
    const template = { name, language: { code: language }, components };
    const body = { messaging_product: 'whatsapp', to: to.slice(1), type: 'template', template };
    return jsonRequest(`${url}/messages`, body, headers);
  };
  const plain = message(templateName);
  if (chart === null || pictureTemplateName === undefined) return { kind: 'http', requests: [plain] };
  const parts = [
    { name: 'messaging_product', value: 'whatsapp' },
    { name: 'type', value: 'image/png' },
    picturePart('file', chart),
  ];
  const upload: HttpOutgoing = { ...multipartRequest(`${url}/media`, parts, headers), optional: true, step: 'media' };
  if (receipts.length === 0) return { kind: 'http', requests: [upload], inOrder: true, more: true };
  const id = receipts[0]?.['mediaId'];
  if (typeof id !== 'string') return { kind: 'http', requests: [upload, plain], inOrder: true };
  const header = { type: 'header', parameters: [{ type: 'image', image: { id } }] };
  return {
    kind: 'http',
    requests: [upload, { ...message(pictureTemplateName, header), fallback: plain }],
    inOrder: true,
  };
}

export const whatsapp = httpChannel(whatsappDeclaration, 'POST', buildWhatsapp, classifyWhatsapp);
