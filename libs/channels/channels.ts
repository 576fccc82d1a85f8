/** How each channel sends: one line per declaration, a missing one does not compile. */
import type { Channel } from './channel.js';
import type { ActionType } from './declarations.js';
import { apprise } from './apprise/build.js';
import { awsSns } from './aws_sns/build.js';
import { command } from './command/build.js';
import { custom } from './custom/build.js';
import { dingtalk } from './dingtalk/build.js';
import { discord } from './discord/build.js';
import { email } from './email/build.js';
import { feishu } from './feishu/build.js';
import { githubIssue } from './github_issue/build.js';
import { googlechat } from './googlechat/build.js';
import { gotify } from './gotify/build.js';
import { grafanaOncall } from './grafana_oncall/build.js';
import { homeassistant } from './homeassistant/build.js';
import { incidentIo } from './incident_io/build.js';
import { jira } from './jira/build.js';
import { line } from './line/build.js';
import { matrix } from './matrix/build.js';
import { mattermost } from './mattermost/build.js';
import { mqtt } from './mqtt/build.js';
import { msteams } from './msteams/build.js';
import { ntfy } from './ntfy/build.js';
import { opsgenie } from './opsgenie/build.js';
import { pagerduty } from './pagerduty/build.js';
import { pushbullet } from './pushbullet/build.js';
import { pushover } from './pushover/build.js';
import { rocketchat } from './rocketchat/build.js';
import { signal } from './signal/build.js';
import { slack } from './slack/build.js';
import { splunkOncall } from './splunk_oncall/build.js';
import { syslog } from './syslog/build.js';
import { telegram } from './telegram/build.js';
import { twilioSms } from './twilio_sms/build.js';
import { vonageSms } from './vonage_sms/build.js';
import { webex } from './webex/build.js';
import { webhook } from './webhook/build.js';
import { whatsapp } from './whatsapp/build.js';
import { zulip } from './zulip/build.js';

export const channels = {
  email,
  webhook,
  custom,
  ntfy,
  discord,
  slack,
  msteams,
  googlechat,
  mattermost,
  rocketchat,
  telegram,
  matrix,
  gotify,
  pushover,
  pagerduty,
  opsgenie,
  twilio_sms: twilioSms,
  vonage_sms: vonageSms,
  apprise,
  zulip,
  webex,
  line,
  feishu,
  dingtalk,
  splunk_oncall: splunkOncall,
  grafana_oncall: grafanaOncall,
  incident_io: incidentIo,
  signal,
  whatsapp,
  homeassistant,
  pushbullet,
  jira,
  github_issue: githubIssue,
  aws_sns: awsSns,
  syslog,
  mqtt,
  command,
} satisfies Record<ActionType, Channel>;
