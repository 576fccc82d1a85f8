/** The mark of a state, alone or with its word. */
import type { ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import { stateWords, type TaskState } from './state.js';
import './marks.css';

const shapes: Readonly<Record<TaskState, ReactNode>> = {
  broken: <path d="M6 .8 11.6 11H.4Z" fill="currentColor" />,
  blocked: <rect x="1.4" y="1.4" width="9.2" height="9.2" fill="currentColor" />,
  met: <circle cx="6" cy="6" r="5" fill="currentColor" />,
  flapping: (
    <>
      <circle cx="6" cy="6" r="4.2" fill="none" stroke="currentColor" strokeWidth="1.6" />
      <path d="M6 1.8a4.2 4.2 0 0 1 0 8.4Z" fill="currentColor" />
    </>
  ),
  'not-met': <circle cx="6" cy="6" r="4.2" fill="none" stroke="currentColor" strokeWidth="1.6" />,
  unknown: <circle cx="6" cy="6" r="4.2" fill="none" stroke="currentColor" strokeWidth="1.6" strokeDasharray="2 2.2" />,
  paused: <path d="M3.5 2v8M8.5 2v8" stroke="currentColor" strokeWidth="2.2" />,
};

export function StateMark({ state }: { readonly state: TaskState }): ReactNode {
  const { t } = useTexts();
  return (
    <span className={`state ${state}`}>
      <svg viewBox="0 0 12 12" aria-hidden="true">
        {shapes[state]}
      </svg>
      <span className="state-word">{t(stateWords[state])}</span>
    </span>
  );
}
