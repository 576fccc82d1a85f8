/** How each channel sends: one line per declaration, a missing one does not compile. */
import type { Channel } from './channel.js';
import type { ActionType } from './declarations.js';
import { custom } from './custom/build.js';
import { discord } from './discord/build.js';
import { email } from './email/build.js';
import { googlechat } from './googlechat/build.js';
import { gotify } from './gotify/build.js';
import { matrix } from './matrix/build.js';
import { mattermost } from './mattermost/build.js';
import { msteams } from './msteams/build.js';
import { ntfy } from './ntfy/build.js';
import { pushover } from './pushover/build.js';
import { rocketchat } from './rocketchat/build.js';
import { slack } from './slack/build.js';
import { telegram } from './telegram/build.js';
import { webhook } from './webhook/build.js';

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
} satisfies Record<ActionType, Channel>;
