/** What the keyboard comes to is wholly in sight: browsers leave it where it is as long as a part of it can be seen. */
import { useEffect } from 'react';

export function useFocusInSight(): void {
  useEffect(() => {
    const look = ({ target }: FocusEvent): void => {
      // The editor of code scrolls by its own cursor.
      if (!(target instanceof HTMLElement) || target.isContentEditable || !target.matches(':focus-visible')) return;
      target.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    };
    document.addEventListener('focusin', look);
    return () => document.removeEventListener('focusin', look);
  }, []);
}
