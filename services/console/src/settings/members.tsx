/** People of the organisation: invited, given roles, removed. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, dataOf } from '../api/client.js';
import { ConfirmButton } from '../frame/confirm.js';
import { DataTable } from '../frame/data-table.js';
import { CopyField } from '../frame/copy-field.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useFailureToast, useToast } from '../frame/toasts.js';
import { useSession } from '../session/session.js';
import { RelativeTime } from '../text/time.js';
import { useTexts } from '../text/text.js';
import { membersKey, useMembers } from './use-members.js';

const roles = ['owner', 'admin', 'editor', 'viewer'] as const;
type Role = (typeof roles)[number];

function RoleSelect(props: {
  readonly label: string;
  readonly value: Role;
  readonly isDisabled?: boolean;
  readonly onChoose: (role: Role) => void;
}): ReactNode {
  const { t } = useTexts();
  // Owners are made by owners.
  const offered =
    useSession().role === 'owner' ? roles : roles.filter((role) => role !== 'owner' || props.value === role);
  return (
    <select
      className="input"
      style={{ width: 'auto' }}
      aria-label={props.label}
      disabled={props.isDisabled}
      value={props.value}
      onChange={({ target }) => props.onChoose(target.value as Role)}
    >
      {offered.map((role) => (
        <option key={role} value={role}>
          {t(`role.${role}`)}
        </option>
      ))}
    </select>
  );
}

export function Members(): ReactNode {
  const { t } = useTexts();
  const client = useQueryClient();
  const toast = useToast();
  const failed = useFailureToast();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('editor');
  const members = useMembers();
  const refresh = (): void => void client.invalidateQueries({ queryKey: membersKey });
  const invite = useMutation({
    mutationFn: () => dataOf(api.POST('/api/members', { body: { email, role } })),
    onSuccess: () => {
      setEmail('');
      refresh();
    },
  });
  const change = useMutation({
    mutationFn: (given: { readonly id: string; readonly role: Role }) =>
      dataOf(api.PATCH('/api/members/{id}', { params: { path: { id: given.id } }, body: { role: given.role } })),
    onSuccess: refresh,
    onError: (error) => failed(error.message),
  });
  const remove = useMutation({
    mutationFn: (id: string) => dataOf(api.DELETE('/api/members/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      refresh();
      toast(t('members.removed'));
    },
    onError: (error) => failed(error.message),
  });
  return (
    <div className="stack">
      <form
        className="card"
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate();
        }}
      >
        <header>
          <h2>{t('members.invite')}</h2>
        </header>
        <div className="in stack">
          <div className="bar">
            <input
              className="input grow"
              type="email"
              required
              maxLength={254}
              aria-label={t('members.email')}
              placeholder="ben@acme.example"
              value={email}
              onChange={({ target }) => setEmail(target.value)}
            />
            <RoleSelect label={t('members.role')} value={role} onChoose={setRole} />
            <button type="submit" className="button main" disabled={invite.isPending}>
              {t('members.doInvite')}
            </button>
          </div>
          {invite.error !== null && <ProblemNotice error={invite.error} />}
          {invite.data !== undefined && (
            <CopyField label={t('members.link', { email: invite.data.email })} value={invite.data.invitationUrl} />
          )}
        </div>
      </form>
      {members.error !== null && <ProblemNotice error={members.error} onRetry={() => void members.refetch()} />}
      <DataTable
        label={t('settings.members')}
        heads={[t('members.email'), t('members.role'), t('members.status'), t('you.secondFactor'), null]}
      >
        {(members.data?.data ?? []).map((member) => (
          <tr key={member.id}>
            <td>{member.email}</td>
            <td>
              <RoleSelect
                label={t('members.roleOf', { email: member.email })}
                value={member.role}
                isDisabled={change.isPending || member.status === 'invited'}
                onChoose={(next) => change.mutate({ id: member.id, role: next })}
              />
            </td>
            <td>
              {t(`members.status.${member.status}`)}{' '}
              {member.expiresAt !== null && <RelativeTime at={member.expiresAt} />}
            </td>
            <td>{t(`secondFactor.${member.secondFactor}`)}</td>
            <td>
              <ConfirmButton
                label={t('members.remove')}
                what={t('members.removeWhat')}
                name={member.email}
                onConfirm={() => remove.mutate(member.id)}
              />
            </td>
          </tr>
        ))}
      </DataTable>
    </div>
  );
}
