/** A recorded page as it was, in a frame that runs nothing, sends nothing and goes nowhere. */
import type { ReactNode } from 'react';
import { useTexts } from '../text/text.js';

export function PageFrame({ executionId }: { readonly executionId: string }): ReactNode {
  const { t } = useTexts();
  return (
    <iframe
      className="page-frame"
      title={t('run.pageThen')}
      src={`/api/executions/${executionId}/snapshot`}
      sandbox=""
      referrerPolicy="no-referrer"
    />
  );
}
