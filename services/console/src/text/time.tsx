/** A time as people read it: relative in lists, its whole in the tooltip and for screen readers. */
import type { ReactNode } from 'react';
import { absoluteTime, relativeTime, useNow } from './times.js';
import { useTexts } from './text.js';

export function RelativeTime({ at }: { readonly at: string }): ReactNode {
  const { language } = useTexts();
  const whole = absoluteTime(at, language);
  return (
    <time dateTime={at} title={whole}>
      {relativeTime(at, useNow(), language)}
      <span className="visually-hidden">, {whole}</span>
    </time>
  );
}

export function AbsoluteTime({ at }: { readonly at: string }): ReactNode {
  const { language } = useTexts();
  return (
    <time dateTime={at} className="num">
      {absoluteTime(at, language)}
    </time>
  );
}
