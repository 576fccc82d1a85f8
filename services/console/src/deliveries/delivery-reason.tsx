/** Why a message ended as it did: in words where the reader's language has them, and the code that the API knows it by. */
import type { ReactNode } from 'react';
import { useWording } from '../text/server-sentence.js';

export function DeliveryReason({ reason }: { readonly reason: string }): ReactNode {
  const words = useWording()?.ofDeliveryReason(reason) ?? null;
  return (
    <>
      {words} <code>{reason}</code>
    </>
  );
}
