/** Settings that are written of a task that is there already. */
import { taskInput, type TaskDocument, type TaskInput } from '#contracts/task';
import { validated } from '#http/validation';
import { isJsonObject, type Json } from '#runtime/json';

/** Stands in for a text that is not checked. */
const unchecked = { name: 'x', description: '', externalKey: null } as const;

/**
 * Throws the first fault. Texts that stay as they are stand, whatever rules came since an earlier version took them: who changes
 * something else, or goes back to what was, has not written them.
 */
export function validatedOfKnown(settings: Json, { spec }: Pick<TaskDocument, 'spec'>): TaskInput {
  if (!isJsonObject(settings)) return validated(taskInput, settings, 'body');
  const { name, description, externalKey } = spec;
  const kept = Object.entries({ name, description, externalKey }).filter(([field, text]) => settings[field] === text);
  const standIns = Object.entries(unchecked).filter(([field]) => kept.some(([one]) => one === field));
  const input = validated(taskInput, { ...settings, ...Object.fromEntries(standIns) }, 'body');
  return { ...input, ...Object.fromEntries(kept) };
}
