/** Why a message ended as it did: in words where the reader's language has them, and the code that the API knows it by. */
import type { ReactNode } from 'react';
import { deliveryReasonsEn } from '../text/said/sent-en.js';
import { useWording } from '../text/server-sentence.js';
import { useTexts } from '../text/text.js';

const inEnglish: Readonly<Record<string, string>> = deliveryReasonsEn;

export function DeliveryReason({ reason }: { readonly reason: string }): ReactNode {
  const { language } = useTexts();
  const meant = useWording()?.ofDeliveryReason(reason) ?? null;
  const words = language === 'en' && Object.hasOwn(inEnglish, reason) ? inEnglish[reason] : meant;
  return (
    <>
      {words} <code>{reason}</code>
    </>
  );
}
