/** The channels that there are. An action's type, its schema, its secrets and its checks follow from this list. */
import type { ChannelDeclaration } from './declaration.js';
import { appriseDeclaration } from './apprise/declaration.js';
import { awsSnsDeclaration } from './aws_sns/declaration.js';
import { commandDeclaration } from './command/declaration.js';
import { customDeclaration } from './custom/declaration.js';
import { dingtalkDeclaration } from './dingtalk/declaration.js';
import { discordDeclaration } from './discord/declaration.js';
import { emailDeclaration } from './email/declaration.js';
import { feishuDeclaration } from './feishu/declaration.js';
import { githubIssueDeclaration } from './github_issue/declaration.js';
import { googlechatDeclaration } from './googlechat/declaration.js';
import { gotifyDeclaration } from './gotify/declaration.js';
import { grafanaOncallDeclaration } from './grafana_oncall/declaration.js';
import { homeassistantDeclaration } from './homeassistant/declaration.js';
import { incidentIoDeclaration } from './incident_io/declaration.js';
import { jiraDeclaration } from './jira/declaration.js';
import { lineDeclaration } from './line/declaration.js';
import { matrixDeclaration } from './matrix/declaration.js';
import { mattermostDeclaration } from './mattermost/declaration.js';
import { mqttDeclaration } from './mqtt/declaration.js';
import { msteamsDeclaration } from './msteams/declaration.js';
import { ntfyDeclaration } from './ntfy/declaration.js';
import { opsgenieDeclaration } from './opsgenie/declaration.js';
import { pagerdutyDeclaration } from './pagerduty/declaration.js';
import { pushbulletDeclaration } from './pushbullet/declaration.js';
import { pushoverDeclaration } from './pushover/declaration.js';
import { rocketchatDeclaration } from './rocketchat/declaration.js';
import { signalDeclaration } from './signal/declaration.js';
import { slackDeclaration } from './slack/declaration.js';
import { splunkOncallDeclaration } from './splunk_oncall/declaration.js';
import { syslogDeclaration } from './syslog/declaration.js';
import { telegramDeclaration } from './telegram/declaration.js';
import { twilioSmsDeclaration } from './twilio_sms/declaration.js';
import { vonageSmsDeclaration } from './vonage_sms/declaration.js';
import { webexDeclaration } from './webex/declaration.js';
import { webhookDeclaration } from './webhook/declaration.js';
import { whatsappDeclaration } from './whatsapp/declaration.js';
import { zulipDeclaration } from './zulip/declaration.js';

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
  pagerdutyDeclaration,
  opsgenieDeclaration,
  twilioSmsDeclaration,
  vonageSmsDeclaration,
  appriseDeclaration,
  zulipDeclaration,
  webexDeclaration,
  lineDeclaration,
  feishuDeclaration,
  dingtalkDeclaration,
  splunkOncallDeclaration,
  grafanaOncallDeclaration,
  incidentIoDeclaration,
  signalDeclaration,
  whatsappDeclaration,
  homeassistantDeclaration,
  pushbulletDeclaration,
  jiraDeclaration,
  githubIssueDeclaration,
  awsSnsDeclaration,
  syslogDeclaration,
  mqttDeclaration,
  commandDeclaration,
] as const;

export type ActionType = (typeof declarations)[number]['type'];

const byType: ReadonlyMap<string, ChannelDeclaration> = new Map(declarations.map((one) => [one.type, one]));

export function declarationOf(type: ActionType): ChannelDeclaration {
  const declaration = byType.get(type);
  if (declaration === undefined) throw new Error(`no channel is declared for ${type}`);
  return declaration;
}
