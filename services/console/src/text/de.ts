import type { Catalogue } from './catalogue.js';
import { accountsDe } from './de/accounts.js';
import { editDe } from './de/edit.js';
import { frameDe } from './de/frame.js';
import { newDe } from './de/new.js';
import { pastDe } from './de/past.js';
import { runsDe } from './de/runs.js';
import { settingsDe } from './de/settings.js';
import { taskDe } from './de/task.js';
import { tasksDe } from './de/tasks.js';

/** German. */
export const de: Catalogue = {
  ...frameDe,
  ...accountsDe,
  ...tasksDe,
  ...taskDe,
  ...pastDe,
  ...runsDe,
  ...editDe,
  ...newDe,
  ...settingsDe,
};
