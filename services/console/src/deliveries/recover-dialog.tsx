/** After a receiver was down: all messages of a time that did not arrive are sent again, each under its own id. */
import { Dialog } from '@base-ui/react/dialog';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, dataOf } from '../api/client.js';
import { faultOf } from '../api/problem.js';
import { SelectField, TextField } from '../frame/labelled.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useMay } from '../session/session.js';
import { useTexts } from '../text/text.js';
import { localMinute } from '../text/times.js';
import { recoverable } from './delivery-words.js';

type Ended = (typeof recoverable)[number];

const dayMs = 86_400_000;

export function RecoverDialog({ channels }: { readonly channels: readonly string[] }): ReactNode {
  const { t } = useTexts();
  const client = useQueryClient();
  const may = useMay('write');
  const [isOpen, setOpen] = useState(false);
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [status, setStatus] = useState<Ended | ''>('');
  const [channel, setChannel] = useState('');
  const recover = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/api/deliveries/recover', {
          body: {
            from: new Date(from).toISOString(),
            ...(to !== '' && { to: new Date(to).toISOString() }),
            ...(status !== '' && { status }),
            ...(channel !== '' && { actionType: channel as never }),
          },
        }),
      ),
    onSuccess: () => void client.invalidateQueries({ queryKey: ['deliveries'] }),
  });
  const open = (next: boolean): void => {
    setOpen(next);
    recover.reset();
    if (next && from === '') setFrom(localMinute(new Date(Date.now() - dayMs)));
  };
  return (
    <Dialog.Root open={isOpen} onOpenChange={open}>
      <Dialog.Trigger className="button" disabled={!may} title={may ? undefined : t('deliveries.mayNot')}>
        {t('recover.title')}
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="dialog-back" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>{t('recover.title')}</Dialog.Title>
          <Dialog.Description className="muted">{t('recover.what')}</Dialog.Description>
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              recover.mutate();
            }}
          >
            <div className="pair">
              <TextField
                label={t('recover.from')}
                value={from}
                onChange={setFrom}
                fault={faultOf(recover.error, 'from')}
                input={{ type: 'datetime-local', required: true }}
              />
              <TextField
                label={t('recover.to')}
                hint={t('recover.toHint')}
                value={to}
                onChange={setTo}
                fault={faultOf(recover.error, 'to')}
                input={{ type: 'datetime-local' }}
              />
              <SelectField<Ended | ''>
                label={t('recover.status')}
                value={status}
                options={[
                  ['', t('recover.notArrived')],
                  ...recoverable.map((one) => [one, t(`delivery.${one}`)] as const),
                ]}
                onChoose={setStatus}
              />
              <SelectField
                label={t('deliveries.channel')}
                value={channel}
                options={[['', t('frame.any')], ...channels.map((one) => [one, one] as const)]}
                onChoose={setChannel}
              />
            </div>
            {recover.error !== null && <ProblemNotice error={recover.error} />}
            {recover.data !== undefined && (
              <p className="notice good" role="status">
                {t('recover.done', { count: recover.data.resent })} {recover.data.left && t('recover.left')}
              </p>
            )}
            <div className="bar">
              <span className="grow" />
              <Dialog.Close className="button">{t('frame.close')}</Dialog.Close>
              <button type="submit" className="button main" disabled={recover.isPending || from === ''}>
                {t('recover.do')}
              </button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
