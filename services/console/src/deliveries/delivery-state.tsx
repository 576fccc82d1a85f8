/** How far a message is: green where it arrived, red where it did not, neither while it is under way. */
import type { ReactNode } from 'react';
import type { Delivery } from '../api/types.js';
import { useTexts } from '../text/text.js';
import './deliveries.css';

const tones: Readonly<Record<Delivery['state'], 'good' | 'bad' | 'plain'>> = {
  pending: 'plain',
  sending: 'plain',
  delivered: 'good',
  retrying: 'plain',
  failed: 'bad',
  expired: 'bad',
  suppressed: 'plain',
  unknown: 'bad',
};
const signs = { good: '✓', bad: '×', plain: '·' } as const;

export function DeliveryState({ state }: { readonly state: Delivery['state'] }): ReactNode {
  const { t } = useTexts();
  const tone = tones[state];
  return (
    <span className={`delivery-state ${tone}`}>
      <span aria-hidden="true">{signs[tone]}</span> {t(`delivery.${state}`)}
    </span>
  );
}
