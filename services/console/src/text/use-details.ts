/** Details that stand in answers, such as the warnings of a task, in the words of the reader's language. */
import type { ProblemDetail } from '../api/wording.js';
import { useWording } from './server-sentence.js';

/** As the server says them until the words are there. */
export function useDetails<D extends ProblemDetail>(details: readonly D[]): readonly ProblemDetail[] {
  const words = useWording();
  return words === undefined ? details : details.map((detail) => words.ofDetail(detail));
}
