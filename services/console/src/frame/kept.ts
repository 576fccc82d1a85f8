/** What is typed and not saved yet, kept in this browser: neither a reload nor a lost connection takes it. */
import { useCallback, useState } from 'react';

const prefix = 'meerkat.draft.';

/** An object as it was kept, or null: its reader looks at what it holds. */
export function keptAt(key: string): object | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(`${prefix}${key}`) ?? 'null');
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Null takes it away. Where nothing can be kept, the page still holds what was typed. */
export function keepAt(key: string, value: object | null): void {
  try {
    if (value === null) localStorage.removeItem(`${prefix}${key}`);
    else localStorage.setItem(`${prefix}${key}`, JSON.stringify(value));
  } catch {
    // Full, or forbidden.
  }
}

/**
 * What is typed into a form, null where nothing is. `read` makes it of what was kept, null where that is none;
 * `forKeeping` says what of it is kept, null where nothing was typed yet: without secrets, since everybody who uses the
 * machine may read that.
 */
export function useKept<T extends object>(
  key: string,
  read: (kept: object) => T | null,
  forKeeping: (typed: T) => T | null,
): readonly [T | null, (typed: T | null) => void] {
  const [typed, setTyped] = useState(() => {
    const kept = keptAt(key);
    return kept === null ? null : read(kept);
  });
  const change = useCallback(
    (next: T | null) => {
      setTyped(next);
      keepAt(key, next === null ? null : forKeeping(next));
    },
    [key, forKeeping],
  );
  return [typed, change];
}
