/** After a receiver was down: all messages of a time that did not arrive are sent again, each under its own id. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useChannelName } from '../actions/use-channel-name.js';
import { api, dataOf } from '../api/client.js';
import { faultOf } from '../api/problem.js';
import { FormDialog } from '../frame/form-dialog.js';
import { SelectField, TextField } from '../frame/labelled.js';
import { useMay } from '../session/session.js';
import { useTexts } from '../text/text.js';
import { localMinute } from '../text/times.js';
import { recoverable } from './delivery-words.js';

type Ended = (typeof recoverable)[number];

const dayMs = 86_400_000;

export function RecoverDialog({ channels }: { readonly channels: readonly string[] }): ReactNode {
  const { t } = useTexts();
  const channelName = useChannelName();
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
    <FormDialog
      label={t('recover.title')}
      what={t('recover.what')}
      submit={t('recover.do')}
      isDisabled={!may}
      why={may ? undefined : t('deliveries.mayNot')}
      isOpen={isOpen}
      onOpen={open}
      error={recover.error}
      isBusy={recover.isPending || from === ''}
      staysOpen
      onSubmit={() => recover.mutate()}
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
          options={[['', t('recover.notArrived')], ...recoverable.map((one) => [one, t(`delivery.${one}`)] as const)]}
          onChoose={setStatus}
        />
        <SelectField
          label={t('deliveries.channel')}
          value={channel}
          options={[['', t('frame.any')], ...channels.map((one) => [one, channelName(one)] as const)]}
          onChoose={setChannel}
        />
      </div>
      {recover.data !== undefined && (
        <p className="notice good" role="status">
          {t('recover.done', { count: recover.data.resent })} {recover.data.left && t('recover.left')}
        </p>
      )}
    </FormDialog>
  );
}
