/** A loaded page as the code will see it. */
import type { ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import type { PagePreview } from './preview-query.js';

/** The document as the code would see it; it runs nothing. */
export function PageSource({ preview }: { readonly preview: PagePreview }): ReactNode {
  const { t } = useTexts();
  return (
    <pre className="page-source" tabIndex={0} aria-label={t('new.page')}>
      {preview.document}
    </pre>
  );
}

/** In the place of what is picked from: before a page is there, and where nothing on it can be clicked, as in JSON. */
export function NothingToPick({ preview }: { readonly preview: PagePreview | undefined }): ReactNode {
  const { t } = useTexts();
  const isThere = preview !== undefined && preview.document !== null;
  return (
    <section className="card">
      <div className="in stack">
        <p className="muted">{t(isThere ? 'new.nothingToPick' : 'new.what')}</p>
        {isThere && <PageSource preview={preview} />}
      </div>
    </section>
  );
}
