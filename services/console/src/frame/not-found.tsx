import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useTexts } from '../text/text.js';
import { useTitle } from './title.js';

export function NotFound(): ReactNode {
  const { t } = useTexts();
  useTitle(t('frame.notFound'));
  return (
    <div className="stack">
      <h1>{t('frame.notFound')}</h1>
      <p>{t('frame.notFoundWhat')}</p>
      <p>
        <Link href="/tasks">{t('frame.toTasks')}</Link>
      </p>
    </div>
  );
}
