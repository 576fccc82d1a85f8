/** A time as people read it: relative in lists, its whole in the tooltip and for screen readers. */
import type { ReactNode } from 'react';
import { useNow } from './clock.js';
import { absoluteTime, relativeTime } from './times.js';
import { useTexts } from './text.js';

export function RelativeTime({ at }: { readonly at: string }): ReactNode {
  const { locale } = useTexts();
  const whole = absoluteTime(at, locale);
  return (
    <time dateTime={at} title={whole}>
      {relativeTime(at, useNow(), locale)}
      <span className="visually-hidden">, {whole}</span>
    </time>
  );
}

export function AbsoluteTime({ at }: { readonly at: string }): ReactNode {
  const { locale } = useTexts();
  return (
    <time dateTime={at} className="num">
      {absoluteTime(at, locale)}
    </time>
  );
}
