/** Folds logs back into their files in a thread of its own: copying thousands of pages takes a fifth of a second. */
import { answerRequests } from '#concurrency/answer-requests';
import { foldLogBesideWriters } from './database.js';

/** A file to the fault, null where there was none. */
answerRequests<string, string | null>((file) => {
  try {
    foldLogBesideWriters(file);
    return null;
  } catch (error) {
    return String(error);
  }
});
