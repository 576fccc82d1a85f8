import { accountsEn } from './en/accounts.js';
import { editEn } from './en/edit.js';
import { frameEn } from './en/frame.js';
import { newEn } from './en/new.js';
import { pastEn } from './en/past.js';
import { runsEn } from './en/runs.js';
import { settingsEn } from './en/settings.js';
import { taskEn } from './en/task.js';
import { tasksEn } from './en/tasks.js';

/** Each key stands in one part alone; the spec keeps that. */
export const englishParts = [frameEn, accountsEn, tasksEn, taskEn, pastEn, runsEn, editEn, newEn, settingsEn] as const;

/** English, the language that the keys follow. */
export const en = {
  ...frameEn,
  ...accountsEn,
  ...tasksEn,
  ...taskEn,
  ...pastEn,
  ...runsEn,
  ...editEn,
  ...newEn,
  ...settingsEn,
} as const;
