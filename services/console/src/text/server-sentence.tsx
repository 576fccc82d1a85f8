/** A sentence of the server about a run or a message in the reader's language; in its own, and marked so, where there is no text for it. */
import { useQuery } from '@tanstack/react-query';
import { useCallback, type ReactNode } from 'react';
import { wording, type Wording } from '../api/wording.js';
import { Coded } from './coded.js';
import { useTexts } from './text.js';

/** Undefined in the server's own language, and until the words are there. */
export function useWording(): Wording | undefined {
  const { language } = useTexts();
  const { data } = useQuery({
    queryKey: ['wording', language],
    enabled: language !== 'en',
    staleTime: Infinity,
    queryFn: wording,
  });
  return data;
}

/** Where there is room for plain text alone: as the server says it where there is no other. */
export function useSaid(): (sentence: string) => string {
  const words = useWording();
  return useCallback((sentence) => words?.ofSentence(sentence) ?? sentence, [words]);
}

export function ServerSentence({ text }: { readonly text: string }): ReactNode {
  const { language } = useTexts();
  const meant = useWording()?.ofSentence(text) ?? null;
  if (meant !== null || language === 'en') return <Coded text={meant ?? text} />;
  return (
    <span lang="en">
      <Coded text={text} />
    </span>
  );
}

/** What went wrong, and what to do about it: each by itself, so that one of them may be known alone. */
export function ServerFault({ fault }: { readonly fault: { readonly message: string; readonly hint?: string } }) {
  return (
    <>
      <ServerSentence text={fault.message} />
      {fault.hint !== undefined && (
        <>
          {' '}
          <ServerSentence text={fault.hint} />
        </>
      )}
    </>
  );
}
