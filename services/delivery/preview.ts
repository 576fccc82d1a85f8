/** Messages as they would be sent, for people who write templates: nothing is sent, nothing is recorded. */
import type { HttpOutgoing, MailOutgoing } from '#channels/channel';
import { shownBody } from '#channels/binary-body';
import { channels } from '#channels/channels';
import type { ChannelDeclaration } from '#channels/declaration';
import { declarationOf } from '#channels/declarations';
import type { PeerMessage } from '#channels/peer';
import { httpSummary, mailSummary, peerSummary } from '#channels/summary';
import { isSecretHeader } from '#contracts/common';
import type { MessagePreview, PreviewedNotification } from '#contracts/message-preview';
import type { JsonObject } from '#runtime/json';
import { secretMask } from '#runtime/secret-mask';
import type { Vault } from '#vault/vault';
import { digestOf, type SentRequest } from './digest.js';
import { createOutgoing, isFinal, type Outgoing, type OutgoingOptions } from './outgoing.js';
import { createRedactor } from './redact.js';
import { sealedFor } from './send.js';

export interface PreviewOptions extends OutgoingOptions {
  readonly vault: Vault;
  readonly linkBase: string;
}

/** `ownerId`: whose key the settings are sealed with. Rejects only where a part of this installation is broken. */
export type Preview = (notification: PreviewedNotification, ownerId: string) => Promise<MessagePreview>;

/** Of one text: as much as a message may hold. */
const shownCharacters = 262_144;

type Shown = Pick<MessagePreview, 'title' | 'text' | 'html' | 'request' | 'error'>;

/** A signature over a body that was never sent would let its reader send it. */
function isHiddenHeader(name: string): boolean {
  return isSecretHeader(name) || name.toLowerCase().endsWith('signature');
}

function mapHeaders(
  headers: Readonly<Record<string, string>>,
  change: (value: string, name: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]): [string, string] => [name, change(value, name)]),
  );
}

function shownHttp({ method, url, headers, body: text, binary }: HttpOutgoing, title: string, isWhole: boolean): Shown {
  const body = binary === undefined ? text : shownBody(binary);
  const shown = mapHeaders(headers, (value, name) => (isHiddenHeader(name) ? secretMask : value));
  const request = { method, url: isWhole ? url : httpSummary(method, url).url, headers: shown, body };
  return { title, text: body ?? '', request, error: null };
}

function shownMail({ recipients, subject, text, html }: MailOutgoing): Shown {
  const request = { ...mailSummary(recipients), headers: {}, body: html ?? text };
  return { title: subject, text, ...(html === null ? {} : { html }), request, error: null };
}

/** What the other side would get as the message itself. */
function textOfPeer(message: PeerMessage): string {
  switch (message.protocol) {
    case 'syslog':
      return message.line;
    case 'mqtt':
      return message.payload;
    case 'command':
      return message.input;
  }
}

function shownPeer(message: PeerMessage, title: string): Shown {
  const text = textOfPeer(message);
  return { title, text, request: { ...peerSummary(message), headers: {}, body: text }, error: null };
}

/** An address that is a template is what its writer looks for; what of it gives access is taken out with the other secrets. */
function hasWrittenAddress({ addresses, templates }: ChannelDeclaration): boolean {
  return addresses.some((name) => templates.includes(name));
}

function shownOf(outgoing: Outgoing, title: string, declaration: ChannelDeclaration): Shown {
  switch (outgoing.kind) {
    case 'mail':
      return shownMail(outgoing.mail);
    case 'http': {
      const [first] = outgoing.requests;
      if (first === undefined) throw new Error('a channel built no request');
      return shownHttp(first, title, hasWrittenAddress(declaration));
    }
    case 'peer':
      return shownPeer(outgoing.message, title);
    case 'none': {
      const { reason, message } = outgoing.verdict;
      return nothing(outgoing.request.method, title, { reason, message });
    }
  }
}

function nothing(method: string, title: string, { reason, message }: { reason: string; message: string }): Shown {
  return { title, text: '', request: { method, url: '', headers: {}, body: null }, error: { reason, message } };
}

/** Of settings that were read from an answer and are tried as they are: where the message goes is not known. */
function maskedAddress(
  config: JsonObject,
  { addresses }: ChannelDeclaration,
): { reason: string; message: string } | null {
  const name = addresses.find((each) => config[each] === secretMask);
  if (name === undefined) return null;
  return { reason: 'secret_required', message: `config.${name} is the mask ${secretMask}: send the address itself.` };
}

/** Each part by itself: of an address whose query is a secret as a whole, the path is still shown. */
function redactedParts(address: string, redact: (text: string) => string): string {
  const { origin, pathname, search } = new URL(address);
  return [origin, pathname, search].map(redact).join('');
}

export function createPreview({ vault, linkBase, ...options }: PreviewOptions): Preview {
  const outgoingOf = createOutgoing(options);

  const build = async (request: SentRequest, ownerId: string): Promise<Shown> => {
    const { action, context } = request;
    const { type } = action;
    try {
      const { owner, scope } = sealedFor(request);
      const config = await vault.open(action.contact === undefined ? ownerId : owner, scope, action.config);
      const declaration = declarationOf(type);
      const fault = maskedAddress(config, declaration);
      if (fault !== null) return nothing(channels[type].method, context.message, fault);
      const redact = createRedactor(action.config, config, declaration, shownCharacters);
      const shown = shownOf(await outgoingOf(type, { request, config }, linkBase), context.message, declaration);
      const { method, url, headers, body } = shown.request;
      const isWhole = hasWrittenAddress(declaration) && URL.canParse(url);
      return {
        ...shown,
        title: redact(shown.title),
        text: redact(shown.text),
        ...(shown.html === undefined ? {} : { html: redact(shown.html) }),
        request: {
          method,
          url: isWhole ? redactedParts(url, redact) : redact(url),
          headers: mapHeaders(headers, redact),
          body: body === null ? null : redact(body),
        },
        error: shown.error === null ? null : { ...shown.error, message: redact(shown.error.message) },
      };
    } catch (error) {
      if (isFinal(error)) return nothing(channels[type].method, context.message, error);
      throw error;
    }
  };

  return async ({ gathered = [], ...plain }, ownerId) => {
    const request = gathered.length === 0 ? plain : digestOf(plain, gathered);
    const { action, kind } = request;
    return { actionId: action.id, actionType: action.type, kind, ...(await build(request, ownerId)) };
  };
}
