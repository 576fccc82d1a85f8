/** What people call the channels, as the services write their own names. Pure. */
import type { Delivery } from '../api/types.js';
import type { TextKey } from '../text/catalogue.js';

/** Those that are no service are called by words of the language. */
const words = {
  email: 'channel.email',
  webhook: 'channel.webhook',
  custom: 'channel.custom',
  command: 'channel.command',
} as const satisfies Readonly<Record<string, TextKey>>;

/** Each channel of the API has a name here or above. */
const services: Readonly<Record<Exclude<Delivery['actionType'], keyof typeof words>, string>> = {
  ntfy: 'ntfy',
  discord: 'Discord',
  slack: 'Slack',
  msteams: 'Microsoft Teams',
  googlechat: 'Google Chat',
  mattermost: 'Mattermost',
  rocketchat: 'Rocket.Chat',
  telegram: 'Telegram',
  matrix: 'Matrix',
  gotify: 'Gotify',
  pushover: 'Pushover',
  pagerduty: 'PagerDuty',
  opsgenie: 'Opsgenie',
  twilio_sms: 'SMS (Twilio)',
  vonage_sms: 'SMS (Vonage)',
  apprise: 'Apprise',
  zulip: 'Zulip',
  webex: 'Webex',
  line: 'LINE',
  feishu: 'Feishu, Lark',
  dingtalk: 'DingTalk',
  splunk_oncall: 'Splunk On-Call',
  grafana_oncall: 'Grafana OnCall',
  incident_io: 'incident.io',
  signal: 'Signal',
  whatsapp: 'WhatsApp',
  homeassistant: 'Home Assistant',
  pushbullet: 'Pushbullet',
  jira: 'Jira',
  github_issue: 'GitHub Issues',
  aws_sns: 'AWS SNS',
  syslog: 'Syslog',
  mqtt: 'MQTT',
};

const names: ReadonlyMap<string, string> = new Map(Object.entries(services));
const keys: ReadonlyMap<string, TextKey> = new Map(Object.entries(words));

/** Of a channel that this console does not know yet, its type. */
export function channelNameOf(type: string, t: (key: TextKey) => string): string {
  const key = keys.get(type);
  return key === undefined ? (names.get(type) ?? type) : t(key);
}
