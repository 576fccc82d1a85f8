/** A task as it would be, tried on its page now: nothing is saved, nothing is sent. */
import { useMutation } from '@tanstack/react-query';
import { api, dataOf } from '../api/client.js';
import { isProblem } from '../api/problem.js';
import type { TaskInput, Trial } from '../api/types.js';
import type { CodeFault } from './code-editor.js';

export function useTrial() {
  return useMutation({
    // The client leaves out what is always null; it is there all the same.
    mutationFn: async (input: TaskInput): Promise<Trial> =>
      (await dataOf(api.POST('/api/notifications/test', { body: input }))) as Trial,
  });
}

/** Where in the code something is wrong: of a refusal when it is parsed, or of the run, which `said` has in the reader's language. */
export function codeFaultsOf(
  error: unknown,
  trial: Trial | undefined,
  said: (sentence: string) => string,
): readonly CodeFault[] {
  if (isProblem(error)) {
    return error.details
      .filter(({ field, line }) => field === 'evaluationFunction' && line !== undefined)
      .map(({ line, column, message }) => ({ line: line ?? 1, column: column ?? 1, message }));
  }
  const failed = trial?.error;
  if (failed?.line === undefined) return [];
  return [{ line: failed.line, column: failed.column ?? 1, message: said(failed.hint ?? failed.message) }];
}
