/** Parts that are loaded when they are shown. A server of another version has other files: then they say so in their place. */
import { lazy, type ComponentType, type LazyExoticComponent, type ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import { loadPart } from './load-part.js';

/** Reloading is left to the reader: what stands beside it may be half typed. */
export function PartGone(): ReactNode {
  const { t } = useTexts();
  return (
    <div className="notice warn stack" role="alert">
      <p>
        <b>{t('gone.title')}</b> {t('gone.what')}
      </p>
      <p>
        <button type="button" className="button" onClick={() => location.reload()}>
          {t('gone.reload')}
        </button>
      </p>
    </div>
  );
}

export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => {
    try {
      return { default: await loadPart(load) };
    } catch {
      return { default: PartGone };
    }
  });
}
