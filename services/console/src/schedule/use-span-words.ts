import { useTexts } from '../text/text.js';
import type { SpanUnit } from './spans.js';

export function useSpanWords(): Readonly<Record<SpanUnit, string>> {
  const { t } = useTexts();
  return { days: t('span.days'), hours: t('span.hours'), minutes: t('span.minutes'), seconds: t('span.seconds') };
}
