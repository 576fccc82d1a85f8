/** Command: a notification for a program of this machine, in its environment and as JSON on its standard input. */
import type { z } from 'zod';
import { peerChannel, type BuildContext, type Notification } from '../channel.js';
import { episodeKey } from '../episode.js';
import { eventOf } from '../message.js';
import { peerOutgoing, type PeerOutgoing } from '../peer.js';
import { bytes, shortened } from '../text-limits.js';
import { detailsOf, pageOf, textOf, titleOf } from '../texts.js';
import { classifyCommand } from './classify.js';
import { commandDeclaration } from './declaration.js';

/** A text of the environment has 131,072 bytes with its name. */
const longestBytes = 100_000;

function buildCommand(
  config: z.output<typeof commandDeclaration.config>,
  request: Notification,
  { linkBase }: BuildContext,
): PeerOutgoing {
  const { file, args = [], env = {}, timeoutSeconds = 30 } = config;
  const message = {
    MEERKAT_ID: request.deliveryId,
    MEERKAT_KIND: request.kind,
    MEERKAT_EPISODE: episodeKey(request),
    MEERKAT_TASK_ID: request.taskId,
    MEERKAT_TITLE: titleOf(request, linkBase, config),
    MEERKAT_TEXT: textOf(request, linkBase, config),
    MEERKAT_PAGE: pageOf(request),
    MEERKAT_DETAILS: detailsOf(request, linkBase),
  };
  const all: Record<string, string> = { ...env };
  for (const [name, value] of Object.entries(message)) {
    all[name] = shortened(value.toWellFormed().replaceAll('\u0000', ''), longestBytes, bytes);
  }
  const input = `${JSON.stringify({ id: request.deliveryId, ...eventOf(request, linkBase) })}\n`;
  return peerOutgoing({ protocol: 'command', file, args, env: all, input, timeoutMs: timeoutSeconds * 1_000 });
}

export const command = peerChannel(commandDeclaration, 'command', buildCommand, classifyCommand);
