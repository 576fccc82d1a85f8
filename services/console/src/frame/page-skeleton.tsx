/** What stands where a page will be; seen only where it takes longer than 300 ms. */
import type { ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import './frame.css';

export function PageSkeleton(): ReactNode {
  const { t } = useTexts();
  return (
    <div className="page-skeleton" role="status" aria-label={t('frame.loading')}>
      <div className="skeleton" style={{ width: '14rem', height: '1.6rem' }} />
      <div className="skeleton" style={{ height: '2.4rem' }} />
      <div className="skeleton" style={{ height: '18rem' }} />
    </div>
  );
}
