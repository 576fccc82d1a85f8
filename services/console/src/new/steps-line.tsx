/** What the browser does before the page is read, in order. */
import type { ReactNode } from 'react';
import type { BrowserStep } from '../api/types.js';
import { useTexts } from '../text/text.js';

export function StepsLine(props: {
  readonly steps: readonly BrowserStep[];
  readonly onChange: (steps: readonly BrowserStep[]) => void;
}): ReactNode {
  const { t } = useTexts();
  if (props.steps.length === 0) return null;
  return (
    <section className="bar steps-line" aria-label={t('steps.title')}>
      <span className="muted">{t('steps.title')}</span>
      <ol className="bar">
        {props.steps.map((step, index) => (
          <li key={index} className="tag">
            {t(`steps.${step.do}`)} <code>{step.selector ?? step.value ?? ''}</code>{' '}
            <button
              type="button"
              className="moment"
              aria-label={t('steps.remove', { number: index + 1 })}
              onClick={() => props.onChange(props.steps.filter((_, at) => at !== index))}
            >
              ×
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
