/** What the browser showed in a run, where a picture of it was kept: asked for only where a browser rendered the page. */
import { useState, type ReactNode } from 'react';
import type { Execution } from '../api/types.js';
import { timeOfRun } from '../task/happenings.js';
import { useTask } from '../task/task-query.js';
import { useTexts } from '../text/text.js';

/** By the settings of its time. */
export function useIsRendered(run: Execution): boolean {
  const { data } = useTask(run.notificationId, timeOfRun(run));
  return data?.fetch.mode === 'browser';
}

export function Screenshot(props: {
  readonly executionId: string;
  readonly title: string;
  /** What stands there where none was kept. */
  readonly otherwise: ReactNode;
}): ReactNode {
  const { t } = useTexts();
  const [isMissing, setMissing] = useState(false);
  const address = `/api/executions/${props.executionId}/screenshot`;
  if (isMissing) return props.otherwise;
  return (
    <a className="screenshot" href={address} target="_blank" rel="noreferrer" title={t('screenshot.open')}>
      <img src={address} alt={props.title} loading="lazy" onError={() => setMissing(true)} />
    </a>
  );
}

/** Of a run that failed, too: the picture is what says why. */
export function ScreenshotCard({ run }: { readonly run: Execution }): ReactNode {
  const { t } = useTexts();
  const isRendered = useIsRendered(run);
  if (!isRendered || run.finishedAt === null) return null;
  return (
    <section className="card" aria-label={t('screenshot.title')}>
      <header>
        <h2>{t('screenshot.title')}</h2>
      </header>
      <div className="in">
        <Screenshot
          executionId={run.id}
          title={t('screenshot.title')}
          otherwise={<p className="muted">{t('screenshot.none')}</p>}
        />
      </div>
    </section>
  );
}
