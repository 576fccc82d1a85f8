/** Folds logs back into their files in a thread of its own: copying thousands of pages takes a fifth of a second. */
import { answerRequests } from '#concurrency/answer-requests';
import { foldLogBesideWriters } from './database.js';

/** How many pages the log had, or the fault. */
export type FoldedLog = { readonly pages: number } | { readonly fault: string };

answerRequests<string, FoldedLog>((file) => {
  try {
    return { pages: foldLogBesideWriters(file) };
  } catch (error) {
    return { fault: String(error) };
  }
});
