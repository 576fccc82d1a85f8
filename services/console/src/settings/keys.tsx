/** API keys: made, copied, rotated, revoked. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { answerOf, api, dataOf } from '../api/client.js';
import { faultOf } from '../api/problem.js';
import type { ApiKey } from '../api/types.js';
import { ConfirmButton } from '../frame/confirm.js';
import { DataTable } from '../frame/data-table.js';
import { CopyField } from '../frame/copy-field.js';
import { useKept } from '../frame/kept.js';
import { PasswordDialog } from '../frame/password-dialog.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useFailureToast, useToast } from '../frame/toasts.js';
import { useSession } from '../session/session.js';
import { RelativeTime } from '../text/time.js';
import { useTexts } from '../text/text.js';
import { useMembers } from './use-members.js';

const keysKey = ['keys'] as const;
const scopes = ['read', 'write', 'execute', 'admin', 'operator'] as const;
type Scope = (typeof scopes)[number];

interface ShownKey {
  readonly name: string;
  readonly key: string;
  /** It takes the place of another, which stays good for a time. */
  readonly isSuccessor?: boolean;
}

/** A key that is not made yet, as it is typed. */
interface KeyDraft {
  readonly name: string;
  readonly chosen: readonly Scope[];
  readonly cidrs: string;
  readonly expires: string;
}

const emptyKey: KeyDraft = { name: '', chosen: ['read'], cidrs: '', expires: '' };

/** Whatever stands there that is none of ours is passed over. */
function keyDraftOf(kept: object): KeyDraft {
  const { name, chosen, cidrs, expires } = kept as Readonly<Record<string, unknown>>;
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
  return {
    name: textOf(name),
    chosen: Array.isArray(chosen) ? scopes.filter((scope) => chosen.includes(scope)) : emptyKey.chosen,
    cidrs: textOf(cidrs),
    expires: textOf(expires),
  };
}

/** There is no secret in it: that is made with the key. */
const asTyped = (draft: KeyDraft): KeyDraft => draft;

function NewKey({ onMade }: { readonly onMade: (made: ShownKey) => void }): ReactNode {
  const { t } = useTexts();
  const client = useQueryClient();
  const { account } = useSession();
  const [typed, setTyped] = useKept('key', keyDraftOf, asTyped);
  const { name, cidrs, expires, ...kept } = typed ?? emptyKey;
  const offered = scopes.filter((scope) => scope !== 'operator' || account.operator);
  // Somebody else may have typed it, or the same before they ceased to be an operator.
  const chosen = offered.filter((scope) => kept.chosen.includes(scope));
  const change = (changes: Partial<KeyDraft>): void => setTyped({ ...(typed ?? emptyKey), ...changes });
  const create = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/api/keys', {
          body: {
            name,
            scopes: [...chosen],
            allowedCidrs: cidrs.split(/[\s,]+/).filter((one) => one !== ''),
            expiresAt: expires === '' ? null : new Date(expires).toISOString(),
          },
        }),
      ),
    onSuccess: (made) => {
      onMade(made);
      setTyped(null);
      void client.invalidateQueries({ queryKey: keysKey });
    },
  });
  return (
    <form
      className="card"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <header>
        <h2>{t('apiKeys.new')}</h2>
      </header>
      <div className="in stack">
        <div className="field">
          <label htmlFor="key-name">{t('apiKeys.name')}</label>
          <input
            id="key-name"
            className="input"
            required
            maxLength={200}
            value={name}
            onChange={({ target }) => change({ name: target.value })}
          />
          <span className="fault">{faultOf(create.error, 'name')}</span>
        </div>
        <fieldset className="bar windows">
          <legend>{t('apiKeys.may')}</legend>
          {offered.map((scope) => (
            <label key={scope} className="bar">
              <input
                type="checkbox"
                checked={chosen.includes(scope)}
                onChange={({ target }) =>
                  change({ chosen: scopes.filter((one) => (one === scope ? target.checked : chosen.includes(one))) })
                }
              />
              {t(`apiKeys.scope.${scope}`)}
            </label>
          ))}
        </fieldset>
        <div className="bar">
          <div className="field grow">
            <label htmlFor="key-cidrs">{t('apiKeys.from')}</label>
            <input
              id="key-cidrs"
              className="input mono"
              placeholder="10.0.0.0/8"
              value={cidrs}
              onChange={({ target }) => change({ cidrs: target.value })}
            />
            <span className="fault">{faultOf(create.error, 'allowedCidrs')}</span>
          </div>
          <div className="field">
            <label htmlFor="key-expires">{t('apiKeys.expires')}</label>
            <input
              id="key-expires"
              className="input"
              type="datetime-local"
              value={expires}
              onChange={({ target }) => change({ expires: target.value })}
            />
            <span className="fault">{faultOf(create.error, 'expiresAt')}</span>
          </div>
        </div>
        {create.error !== null && <ProblemNotice error={create.error} />}
        <div className="bar">
          <button type="submit" className="button main" disabled={create.isPending || chosen.length === 0}>
            {t('apiKeys.make')}
          </button>
          {typed !== null && (
            <>
              <button
                type="button"
                className="button plain"
                onClick={() => {
                  setTyped(null);
                  create.reset();
                }}
              >
                {t('draft.discard')}
              </button>
              <span className="small muted">{t('draft.kept')}</span>
            </>
          )}
        </div>
      </div>
    </form>
  );
}

interface RowProps {
  readonly apiKey: ApiKey;
  /** Whose it is, as people call them. */
  readonly maker: string;
  readonly onShown: (shown: ShownKey) => void;
}

function Row({ apiKey, maker, onShown }: RowProps): ReactNode {
  const { t } = useTexts();
  const { role } = useSession();
  const client = useQueryClient();
  const toast = useToast();
  const failed = useFailureToast();
  const params = { path: { id: apiKey.id } };
  const refresh = (): void => void client.invalidateQueries({ queryKey: keysKey });
  const reveal = useMutation({
    mutationFn: (password: string) => dataOf(api.POST('/api/keys/{id}/reveal', { params, body: { password } })),
    onSuccess: ({ key }) => onShown({ name: apiKey.name, key }),
  });
  const rotate = useMutation({
    mutationFn: () => dataOf(api.POST('/api/keys/{id}/rotate', { params, body: { overlapSeconds: 86_400 } })),
    onSuccess: (made) => {
      onShown({ ...made, isSuccessor: true });
      refresh();
    },
    onError: (error) => failed(error.message),
  });
  const revoke = useMutation({
    mutationFn: () => dataOf(api.DELETE('/api/keys/{id}', { params })),
    onSuccess: () => {
      refresh();
      toast(t('apiKeys.revoked'));
    },
    onError: (error) => failed(error.message),
  });
  const isDead = apiKey.revokedAt !== null;
  return (
    <tr>
      <td>
        <bdi>{apiKey.name}</bdi>
      </td>
      <td>
        <bdi>{maker}</bdi>
      </td>
      <td className="mono">mk_{apiKey.publicId}_••••</td>
      <td>
        {apiKey.scopes.map((scope) => (
          <span key={scope} className="tag">
            {t(`apiKeys.scope.${scope}`)}
          </span>
        ))}
      </td>
      <td className="mono">
        {apiKey.allowedCidrs.length === 0 ? t('apiKeys.anywhere') : apiKey.allowedCidrs.join(' ')}
      </td>
      <td>{apiKey.lastUsedAt === null ? t('tasks.never') : <RelativeTime at={apiKey.lastUsedAt} />}</td>
      <td>
        {isDead ? (
          t('apiKeys.isRevoked')
        ) : apiKey.expiresAt === null ? (
          t('tasks.never')
        ) : (
          <RelativeTime at={apiKey.expiresAt} />
        )}
      </td>
      <td>
        {!isDead && (
          <div className="bar">
            {role === 'owner' && (
              <PasswordDialog
                label={t('copy.do')}
                error={reveal.error}
                isBusy={reveal.isPending}
                onPassword={(password, close) => reveal.mutate(password, { onSuccess: close })}
              />
            )}
            <button type="button" className="button plain" disabled={rotate.isPending} onClick={() => rotate.mutate()}>
              {t('apiKeys.rotate')}
            </button>
            <ConfirmButton
              label={t('apiKeys.revoke')}
              what={t('apiKeys.revokeWhat')}
              name={apiKey.name}
              onConfirm={() => revoke.mutate()}
            />
          </div>
        )}
      </td>
    </tr>
  );
}

export function Keys(): ReactNode {
  const { t, rich } = useTexts();
  const [shown, setShown] = useState<ShownKey | null>(null);
  const keys = useQuery({
    queryKey: keysKey,
    queryFn: () => answerOf(api.GET('/api/keys', { params: { query: { limit: 100 } } })),
  });
  const members = useMembers().data?.data ?? [];
  const makerOf = (by: string | null): string => {
    const [kind, id] = by?.split(':') ?? [];
    if (kind === 'user') return members.find((one) => one.id === id)?.email ?? t('apiKeys.byNobodyHere');
    if (kind === 'key') return keys.data?.data.find((one) => one.id === id)?.name ?? t('apiKeys.byKey');
    return '–';
  };
  return (
    <div className="stack">
      <p>
        <b>{t('settings.keys')}</b> <span className="muted">{t('apiKeys.what')}</span>
      </p>
      {shown !== null && (
        <div className="notice good stack" role="status">
          <p>✓ {t('apiKeys.made', { name: shown.name })}</p>
          {shown.isSuccessor === true && <p>{t('apiKeys.before')}</p>}
          <CopyField label={t('setup.key')} value={shown.key} />
          <pre>{`curl -H "Authorization: Bearer $MEERKAT_KEY" ${location.origin}/api/notifications`}</pre>
        </div>
      )}
      {keys.error !== null && <ProblemNotice error={keys.error} onRetry={() => void keys.refetch()} />}
      <DataTable
        label={t('settings.keys')}
        heads={[
          t('apiKeys.name'),
          t('apiKeys.by'),
          t('apiKeys.key'),
          t('apiKeys.may'),
          t('apiKeys.from'),
          t('apiKeys.lastUsed'),
          t('apiKeys.expires'),
          null,
        ]}
      >
        {(keys.data?.data ?? []).map((apiKey) => (
          <Row key={apiKey.id} apiKey={apiKey} maker={makerOf(apiKey.createdBy)} onShown={setShown} />
        ))}
      </DataTable>
      <p className="small muted">{rich('apiKeys.audited', { a: (words) => <Link href="/audit">{words}</Link> })}</p>
      <NewKey onMade={setShown} />
    </div>
  );
}
