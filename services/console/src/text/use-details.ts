/** Details that stand in answers, such as the warnings of a task, in the words of the reader's language. */
import { useQuery } from '@tanstack/react-query';
import { wording, type ProblemDetail } from '../api/wording.js';
import { useTexts } from './text.js';

/** As the server says them until the words are there. */
export function useDetails<D extends ProblemDetail>(details: readonly D[]): readonly ProblemDetail[] {
  const { language } = useTexts();
  const { data } = useQuery({
    queryKey: ['wording', language],
    enabled: details.length > 0,
    staleTime: Infinity,
    queryFn: wording,
  });
  return data === undefined ? details : details.map((detail) => data.ofDetail(detail));
}
