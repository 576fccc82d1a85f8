/** What went wrong, and what can be done now. */
import type { ReactNode } from 'react';
import { furtherDetails, isProblem } from '../api/problem.js';
import { useTexts } from '../text/text.js';
import { Coded } from '../text/coded.js';

export function ProblemNotice({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}): ReactNode {
  const { t } = useTexts();
  const details = isProblem(error) ? furtherDetails(error) : [];
  return (
    <div className="notice bad stack" role="alert">
      <p>
        <Coded text={String((error as Error).message)} />
      </p>
      {details.length > 0 && (
        <ul>
          {details.map((detail) => (
            <li key={`${detail.field} ${detail.rule}`}>
              {detail.field !== '' && <code>{detail.field}</code>} <Coded text={detail.message} />
              {detail.line !== undefined && ` (${t('problem.line', { line: detail.line })})`}
            </li>
          ))}
        </ul>
      )}
      {onRetry !== undefined && (
        <p>
          <button type="button" className="button" onClick={onRetry}>
            {t('problem.retry')}
          </button>
        </p>
      )}
    </div>
  );
}
