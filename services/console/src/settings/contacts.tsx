/** Named receivers: an address or a secret changes here once, for every action that goes by the name. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { contactsKey, TypeOptions, useContacts } from '../actions/action-editor.js';
import { useActionTypes, type ActionType } from '../actions/action-types.js';
import { useChannelName } from '../actions/use-channel-name.js';
import type { Settings } from '../actions/field-kinds.js';
import { SchemaForm } from '../actions/schema-form.js';
import { secretMask, settingsWithoutSecrets } from '../actions/without-secrets.js';
import { answerOf, api, dataOf } from '../api/client.js';
import { faultOf, isProblem } from '../api/problem.js';
import type { Contact, ContactInput, Task } from '../api/types.js';
import { CopyField } from '../frame/copy-field.js';
import { EditAndRemove } from '../frame/edit-and-remove.js';
import { useKept } from '../frame/kept.js';
import { Labelled, TextField } from '../frame/labelled.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { SettingsList } from '../frame/settings-list.js';
import { useFailureToast, useToast } from '../frame/toasts.js';
import { useMay } from '../session/session.js';
import { ChangedField } from '../task/history-tab.js';
import { RelativeTime } from '../text/time.js';
import { useTexts } from '../text/text.js';

interface Draft {
  readonly name: string;
  readonly type: string;
  readonly config: Settings;
  /** When the contact was last changed as the edit began; none of a new one. */
  readonly updatedAt?: string;
}

const empty: Draft = { name: '', type: '', config: {} };

function draftOf(kept: object): Draft | null {
  const { name, type, config, updatedAt } = kept as Readonly<Record<string, unknown>>;
  if (typeof name !== 'string' || typeof type !== 'string' || typeof config !== 'object' || config === null)
    return null;
  return { name, type, config: config as Settings, ...(typeof updatedAt === 'string' && { updatedAt }) };
}

const isSame = (one: Draft, other: Draft): boolean =>
  one.name === other.name && one.type === other.type && JSON.stringify(one.config) === JSON.stringify(other.config);

/** A contact while it is typed, kept in this browser without its secrets. `contact`: the one that is edited. */
function useContactDraft(types: readonly ActionType[], contact: Contact | null) {
  const forKeeping = useCallback(
    (draft: Draft): Draft | null => {
      const before: Draft = contact ?? empty;
      if (isSame(draft, before)) return null;
      const stored = draft.type === before.type ? before.config : {};
      return { ...draft, config: settingsWithoutSecrets(draft.type, draft.config, types, stored) };
    },
    [types, contact],
  );
  return useKept(contact === null ? 'contact' : `contact.${contact.name}`, draftOf, forKeeping);
}

/** A secret that the service made is in clear in the answer that made it, and never again. */
function madeSecretOf({ config }: Contact): string | null {
  const { secret } = config as Settings;
  return typeof secret === 'string' && secret !== secretMask ? secret : null;
}

/** A secret as Standard Webhooks writes them. */
function freshSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

function ContactForm(props: {
  readonly types: readonly ActionType[];
  readonly draft: Draft;
  readonly isNew: boolean;
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly onChange: (draft: Draft) => void;
  readonly onSave: () => void;
  readonly onCancel: () => void;
}): ReactNode {
  const { t } = useTexts();
  const { types, draft, error, onChange } = props;
  const schema = types.find(({ type }) => type === draft.type)?.configSchema;
  return (
    <form
      className="in stack"
      onSubmit={(event) => {
        event.preventDefault();
        props.onSave();
      }}
    >
      <div className="pair">
        <TextField
          label={t('contacts.name')}
          hint={t('contacts.nameHint')}
          fault={faultOf(error, 'name')}
          isMono
          value={draft.name}
          onChange={(name) => onChange({ ...draft, name })}
          input={{ required: true, maxLength: 64, pattern: '[a-z0-9\\-]{1,64}', readOnly: !props.isNew }}
        />
        <Labelled label={t('actions.type')} fault={faultOf(error, 'type')}>
          {(control) => (
            <select
              {...control}
              required
              value={draft.type}
              onChange={({ target }) => onChange({ ...draft, type: target.value, config: {} })}
            >
              <option value="">{t('actions.choose')}</option>
              <TypeOptions types={types} />
            </select>
          )}
        </Labelled>
      </div>
      {schema !== undefined && (
        <SchemaForm
          key={draft.type}
          schema={schema}
          settings={draft.config}
          faultOf={(name) => faultOf(error, `config.${name}`)}
          onChange={(config) => onChange({ ...draft, config })}
        />
      )}
      {error !== null && <ProblemNotice error={error} />}
      <div className="bar">
        <button type="submit" className="button main" disabled={props.isBusy || draft.type === ''}>
          {t(props.isNew ? 'contacts.make' : 'frame.save')}
        </button>
        <button type="button" className="button" onClick={props.onCancel}>
          {t('frame.cancel')}
        </button>
        <span className="small muted">{t('draft.keptForm')}</span>
      </div>
    </form>
  );
}

/** So many tasks are looked through for those whose actions name a contact. */
const mostLookedThrough = 2_000;
const pageSize = 100;

async function tasksThatUse(name: string): Promise<{ readonly tasks: readonly Task[]; readonly isWhole: boolean }> {
  const tasks: Task[] = [];
  for (let page = 1; ; page += 1) {
    const query = { limit: pageSize, page } as const;
    const { data, pagination } = await answerOf(api.GET('/api/notifications', { params: { query: query as never } }));
    tasks.push(
      ...data.filter(({ actions }) => actions.some((action) => 'contact' in action && action.contact === name)),
    );
    if (page >= pagination.pages) return { tasks, isWhole: true };
    if (page * pageSize >= mostLookedThrough) return { tasks, isWhole: false };
  }
}

function WhereUsed({ name }: { readonly name: string }): ReactNode {
  const { t } = useTexts();
  const { data, error, isPending } = useQuery({
    queryKey: [...contactsKey, name, 'tasks'],
    queryFn: () => tasksThatUse(name),
  });
  if (error !== null) return <ProblemNotice error={error} />;
  if (isPending) return <p className="muted">{t('frame.loading')} …</p>;
  return (
    <div className="stack" role="status">
      <p>
        {t('contacts.usedBy', { count: data.tasks.length })}{' '}
        {!data.isWhole && <span className="muted">{t('contacts.notWhole', { count: mostLookedThrough })}</span>}
      </p>
      {data.tasks.length > 0 && (
        <ul>
          {data.tasks.slice(0, 50).map((task) => (
            <li key={task.id}>
              <Link href={`/tasks/${task.id}/actions`}>
                <bdi>{task.name}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Tasks that keep a contact from being removed, as the refusal names them. */
function InUse({ error }: { readonly error: unknown }): ReactNode {
  const { t } = useTexts();
  if (!isProblem(error) || error.reason !== 'in_use') return <ProblemNotice error={error} />;
  return (
    <div className="notice bad" role="alert">
      <p>{t('contacts.inUse')}</p>
      <ul>
        {error.details.slice(0, 20).map(({ message }) => (
          <li key={message}>
            <Link href={`/tasks/${message}/actions`} className="mono">
              {message}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function ContactCard({
  contact,
  types,
}: {
  readonly contact: Contact;
  readonly types: readonly ActionType[];
}): ReactNode {
  const channelName = useChannelName();
  const { t } = useTexts();
  const toast = useToast();
  const failed = useFailureToast();
  const client = useQueryClient();
  const mayWrite = useMay('write');
  const { name } = contact;
  const params = { path: { name } };
  const [draft, setDraft] = useContactDraft(types, contact);
  const [isUseShown, setUseShown] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const refresh = (): void => void client.invalidateQueries({ queryKey: contactsKey });
  const save = useMutation({
    mutationFn: (body: Draft) => dataOf(api.PUT('/api/contacts/{name}', { params, body: body as ContactInput })),
    onSuccess: (saved) => {
      setDraft(null);
      setSecret(madeSecretOf(saved));
      refresh();
      toast(t('contacts.saved'));
    },
  });
  const renew = useMutation({
    mutationFn: (made: string) =>
      dataOf(api.PATCH('/api/contacts/{name}', { params, body: { config: { secret: made } } as never })),
    onSuccess: (_saved, made) => {
      setSecret(made);
      refresh();
    },
    onError: (error) => failed(error.message),
  });
  const remove = useMutation({
    mutationFn: () => dataOf(api.DELETE('/api/contacts/{name}', { params })),
    onSuccess: () => {
      setDraft(null);
      refresh();
      toast(t('contacts.removed', { name }));
    },
  });
  const cancel = (): void => {
    setDraft(null);
    save.reset();
  };
  return (
    <section className="card" aria-label={name}>
      <header>
        <h2>{name}</h2>
        <span className="tag">{channelName(contact.type)}</span>
        <span className="small muted">
          {t('contacts.changed')} <RelativeTime at={contact.updatedAt} />
        </span>
        <span className="grow" />
        <button
          type="button"
          className="button plain"
          aria-expanded={isUseShown}
          onClick={() => setUseShown(!isUseShown)}
        >
          {t('contacts.where')}
        </button>
        {contact.type === 'webhook' && (
          <button
            type="button"
            className="button plain"
            disabled={!mayWrite || renew.isPending}
            onClick={() => renew.mutate(freshSecret())}
          >
            {t('actions.rotate')}
          </button>
        )}
        <EditAndRemove
          isPlain
          isEdited={draft !== null}
          isOff={!mayWrite}
          isRemoving={remove.isPending}
          onEdit={() => (draft === null ? setDraft(contact) : cancel())}
          onRemove={() => remove.mutate()}
        />
      </header>
      {(secret !== null || isUseShown || remove.error !== null) && (
        <div className="in stack">
          {secret !== null && <CopyField label={t('contacts.secretOnce')} value={secret} />}
          {remove.error !== null && <InUse error={remove.error} />}
          {isUseShown && <WhereUsed name={name} />}
        </div>
      )}
      {draft !== null && draft.updatedAt !== contact.updatedAt && (
        <div className="in">
          <div className="notice warn stack" role="alert">
            <p>{t('contacts.stale')}</p>
            <ChangedField path="config" from={contact.config} to={draft.config} />
          </div>
        </div>
      )}
      {draft === null ? (
        <div className="in">
          <SettingsList settings={contact.config} />
        </div>
      ) : (
        <ContactForm
          types={types}
          draft={draft}
          isNew={false}
          isBusy={save.isPending}
          error={save.error}
          onChange={setDraft}
          onSave={() => {
            const { type, config } = draft;
            save.mutate({ name, type, config });
          }}
          onCancel={cancel}
        />
      )}
    </section>
  );
}

export function Contacts(): ReactNode {
  const { t } = useTexts();
  const client = useQueryClient();
  const toast = useToast();
  const mayWrite = useMay('write');
  const types = useActionTypes().data ?? [];
  const contacts = useContacts();
  const [draft, setDraft] = useContactDraft(types, null);
  const [made, setMade] = useState<{ readonly name: string; readonly secret: string } | null>(null);
  const create = useMutation({
    mutationFn: (body: Draft) => dataOf(api.POST('/api/contacts', { body: body as ContactInput })),
    onSuccess: (contact) => {
      const secret = madeSecretOf(contact);
      setMade(secret === null ? null : { name: contact.name, secret });
      setDraft(null);
      void client.invalidateQueries({ queryKey: contactsKey });
      toast(t('contacts.made', { name: contact.name }));
    },
  });
  return (
    <div className="stack">
      <div className="bar">
        <p className="grow">
          <b>{t('settings.contacts')}</b> <span className="muted">{t('contacts.what')}</span>
        </p>
        <button
          type="button"
          className="button main"
          disabled={!mayWrite || draft !== null}
          onClick={() => setDraft(empty)}
        >
          {t('contacts.new')}
        </button>
      </div>
      {made !== null && (
        <div className="notice good">
          <CopyField label={t('contacts.secretOnce')} value={made.secret} />
        </div>
      )}
      {draft !== null && (
        <section className="card" aria-label={t('contacts.new')}>
          <header>
            <h2>{t('contacts.new')}</h2>
          </header>
          <ContactForm
            types={types}
            draft={draft}
            isNew
            isBusy={create.isPending}
            error={create.error}
            onChange={setDraft}
            onSave={() => create.mutate(draft)}
            onCancel={() => {
              setDraft(null);
              create.reset();
            }}
          />
        </section>
      )}
      {contacts.error !== null && <ProblemNotice error={contacts.error} onRetry={() => void contacts.refetch()} />}
      {contacts.data?.length === 0 && draft === null && <p className="muted">{t('contacts.none')}</p>}
      {(contacts.data ?? []).map((contact) => (
        <ContactCard key={contact.name} contact={contact} types={types} />
      ))}
    </div>
  );
}
