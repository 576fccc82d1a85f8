/** Numbers as the reader's browser writes them, for components. */
import { useCallback } from 'react';
import { madeOnce } from './made-once.js';
import { useTexts } from './text.js';

const numberFormat = madeOnce(
  (locale, options: Intl.NumberFormatOptions | undefined) => new Intl.NumberFormat(locale, options),
);

export function useNumbers(): (value: number, options?: Intl.NumberFormatOptions) => string {
  const { locale } = useTexts();
  return useCallback((value, options) => numberFormat(locale, options).format(value), [locale]);
}
