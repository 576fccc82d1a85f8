/** Single words of the API about runs, in the reader's language; one that is not known yet stands as it came. */
import type { TextKey } from './catalogue.js';
import { runsEn } from './en/runs.js';
import { useTexts } from './text.js';

const isKnown = (key: string): key is keyof typeof runsEn => Object.hasOwn(runsEn, key);

export interface RunWords {
  readonly reason: (reason: string) => string;
  /** Why a run failed. */
  readonly failure: (reason: string) => string;
  /** Why there was no run. */
  readonly noRun: (reason: string) => string;
  readonly trigger: (trigger: string) => string;
  readonly status: (status: string) => string;
  /** Of a message. */
  readonly kind: (kind: string) => string;
}

export function useRunWords(): RunWords {
  const { t } = useTexts();
  const wordOf =
    (kind: 'reason' | 'failure' | 'noRun' | 'trigger' | 'runStatus' | 'deliveryKind') => (word: string) => {
      const key = `${kind}.${word}`;
      return isKnown(key) ? t(key satisfies TextKey) : word;
    };
  return {
    reason: wordOf('reason'),
    failure: wordOf('failure'),
    noRun: wordOf('noRun'),
    trigger: wordOf('trigger'),
    status: wordOf('runStatus'),
    kind: wordOf('deliveryKind'),
  };
}
