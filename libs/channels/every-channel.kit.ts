/** For specs that hold for all channels: the settings of each, from its golden files, and what it makes of a notification. */
import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import type { JsonObject } from '#runtime/json';
import type { BuildContext, Channel, HttpAnswer, HttpOutgoing, Notification, Receipt, Verdict } from './channel.js';
import { channels } from './channels.js';
import { declarations, type ActionType } from './declarations.js';
import { aNotification, kitTimeMs, type KitNotification } from './notification.kit.js';

const golden = z.looseObject({
  config: z.record(z.string(), z.json()),
  opened: z.record(z.string(), z.json()).optional(),
});

export interface GoldenSettings {
  readonly config: JsonObject;
  readonly opened: Receipt | null;
}

/** Each way in which a channel is set, as its golden files have it. */
export function settingsOf(type: ActionType): readonly GoldenSettings[] {
  const folder = new URL(`./${type}/golden/`, import.meta.url);
  return readdirSync(folder)
    .filter((file) => file !== 'answers.json')
    .map((file) => {
      const { config, opened = null } = golden.parse(JSON.parse(readFileSync(new URL(file, folder), 'utf8')));
      return { config, opened };
    });
}

export const types: readonly ActionType[] = declarations.map(({ type }) => type);
export const httpTypes = types.filter((type) => channels[type].transport === 'http');
/** Whose address and answers a vendor has laid down, unlike those of a webhook or code of one's own. */
export const vendorTypes = httpTypes.filter((type) => !['webhook', 'custom'].includes(type));

export type Made = ReturnType<Channel['build']>;

export function made(
  type: ActionType,
  { config, opened }: GoldenSettings,
  request: Notification,
  context: Partial<BuildContext> = {},
): Made {
  const usual = { nowMs: kitTimeMs, linkBase: 'https://meerkat.example', mailFrom: 'a@example.com', opened };
  return channels[type].build({ request, config }, { ...usual, ...context });
}

/** The requests of a message; none where there is nothing to send, or where they are no requests. */
export function requestsOf(
  type: ActionType,
  settings: GoldenSettings,
  options: KitNotification = {},
  context: Partial<BuildContext> = {},
): readonly HttpOutgoing[] {
  const outgoing = made(type, settings, aNotification(options), context);
  return outgoing.kind === 'http' ? outgoing.requests : [];
}

/** Everything that is sent, as one text. */
export function sentText(outgoing: Made): string {
  return outgoing.kind === 'script' ? '' : JSON.stringify(outgoing);
}

export function answerOf(
  status: number,
  body = '',
  headers: Readonly<Record<string, string>> = {},
): Extract<HttpAnswer, { ok: true }> {
  const rest = { bodyCut: false, finalUrl: 'https://receiver.example/', redirects: 0, durationMs: 1 };
  return { ok: true, status, headers, body: Buffer.from(body), ...rest };
}

/** What an answer means to each kind of request of a channel. */
export function verdictsOn(type: ActionType, answer: HttpAnswer): readonly Verdict[] {
  const channel: Channel = channels[type];
  if (channel.transport !== 'http') return [];
  const steps = new Set(settingsOf(type).flatMap((settings) => requestsOf(type, settings).map(({ step }) => step)));
  return [...steps].map((step) => channel.classify(answer, kitTimeMs, step));
}
