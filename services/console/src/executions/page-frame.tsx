/** A recorded page as it was, in a frame that runs nothing, sends nothing and goes nowhere. */
import type { ReactNode } from 'react';

export function PageFrame({ executionId, title }: { readonly executionId: string; readonly title: string }): ReactNode {
  return (
    <iframe
      className="page-frame"
      title={title}
      src={`/api/executions/${executionId}/snapshot`}
      sandbox=""
      referrerPolicy="no-referrer"
    />
  );
}
