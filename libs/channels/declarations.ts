/** The channels that there are. An action's type, its schema, its secrets and its checks follow from this list. */
import type { ChannelDeclaration } from './declaration.js';
import { customDeclaration } from './custom/declaration.js';
import { discordDeclaration } from './discord/declaration.js';
import { emailDeclaration } from './email/declaration.js';
import { googlechatDeclaration } from './googlechat/declaration.js';
import { gotifyDeclaration } from './gotify/declaration.js';
import { matrixDeclaration } from './matrix/declaration.js';
import { mattermostDeclaration } from './mattermost/declaration.js';
import { msteamsDeclaration } from './msteams/declaration.js';
import { ntfyDeclaration } from './ntfy/declaration.js';
import { pushoverDeclaration } from './pushover/declaration.js';
import { rocketchatDeclaration } from './rocketchat/declaration.js';
import { slackDeclaration } from './slack/declaration.js';
import { telegramDeclaration } from './telegram/declaration.js';
import { webhookDeclaration } from './webhook/declaration.js';

/** In the order in which the API names them. */
export const declarations = [
  emailDeclaration,
  webhookDeclaration,
  customDeclaration,
  ntfyDeclaration,
  discordDeclaration,
  slackDeclaration,
  msteamsDeclaration,
  googlechatDeclaration,
  mattermostDeclaration,
  rocketchatDeclaration,
  telegramDeclaration,
  matrixDeclaration,
  gotifyDeclaration,
  pushoverDeclaration,
] as const;

export type ActionType = (typeof declarations)[number]['type'];

const byType: ReadonlyMap<string, ChannelDeclaration> = new Map(declarations.map((one) => [one.type, one]));

export function declarationOf(type: ActionType): ChannelDeclaration {
  const declaration = byType.get(type);
  if (declaration === undefined) throw new Error(`no channel is declared for ${type}`);
  return declaration;
}
