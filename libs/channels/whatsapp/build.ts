/** WhatsApp: a notification as one message by an approved template, whose variables are headline and text. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { jsonRequest } from '../http-request.js';
import { characters, shortened } from '../text-limits.js';
import { shortTextOf, titleOf } from '../texts.js';
import { classifyWhatsapp } from './classify.js';
import { whatsappDeclaration } from './declaration.js';

const usualVersion = 'v23.0';
/** A body has 1,024 with its variables. */
const limits = { title: 200, text: 700 };

/** A variable is one line; there is no way to show a sign of markup as it is. */
const variable = (text: string, limit: number): string =>
  shortened(
    text
      .replace(/[*_~`]/g, '')
      .replace(/\s+/g, ' ')
      .trim() || '–',
    limit,
    characters,
  );

function buildWhatsapp(
  config: z.output<typeof whatsappDeclaration.config>,
  request: Notification,
  { linkBase }: BuildContext,
): HttpBatch {
  const { phoneNumberId, token, apiVersion = usualVersion, to, templateName, language } = config;
  const parameters = [
    variable(titleOf(request, linkBase, config), limits.title),
    variable(shortTextOf(request, linkBase, config), limits.text),
  ].map((text) => ({ type: 'text', text }));
  const body = {
    messaging_product: 'whatsapp',
    to: to.slice(1),
    type: 'template',
    template: { name: templateName, language: { code: language }, components: [{ type: 'body', parameters }] },
  };
  const url = `https://graph.facebook.com/${apiVersion}/${phoneNumberId}/messages`;
  return { kind: 'http', requests: [jsonRequest(url, body, { authorization: `Bearer ${token}` })] };
}

export const whatsapp = httpChannel(whatsappDeclaration, 'POST', buildWhatsapp, classifyWhatsapp);
