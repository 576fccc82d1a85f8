import { useEffect } from 'react';

/** The tab's title: what the page shows first, the product last. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Meerkat`;
  }, [title]);
}
