/** Sends a message again under its own id, so that a receiver that had it can tell. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, dataOf } from '../api/client.js';
import type { Delivery } from '../api/types.js';
import { useFailureToast, useToast } from '../frame/toasts.js';
import { useMay } from '../session/session.js';
import { useTexts } from '../text/text.js';
import { hasEnded } from './delivery-words.js';

export function ResendButton(props: {
  readonly delivery: Pick<Delivery, 'id' | 'state'>;
  readonly className?: string;
}): ReactNode {
  const { t } = useTexts();
  const toast = useToast();
  const failed = useFailureToast();
  const client = useQueryClient();
  const may = useMay('write');
  const { id } = props.delivery;
  const resend = useMutation({
    mutationFn: () => dataOf(api.POST('/api/deliveries/{id}/resend', { params: { path: { id } } })),
    onSuccess: (delivery) => {
      client.setQueryData(['delivery', id], delivery);
      void client.invalidateQueries({ queryKey: ['deliveries'] });
      void client.invalidateQueries({ queryKey: ['task', delivery.notificationId, 'explain'] });
      toast(t('deliveries.resent'));
    },
    onError: (error) => failed(error.message),
  });
  return (
    <button
      type="button"
      className={props.className ?? 'button'}
      disabled={!may || resend.isPending || !hasEnded(props.delivery)}
      title={may ? undefined : t('deliveries.mayNot')}
      onClick={() => resend.mutate()}
    >
      {t('deliveries.resend')}
    </button>
  );
}
