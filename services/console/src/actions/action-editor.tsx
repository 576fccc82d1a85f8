/** The settings of one action: those of its channel by its schema, when it sends, and what few need. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { answerOf, api } from '../api/client.js';
import { faultOf } from '../api/problem.js';
import { TextField } from '../frame/labelled.js';
import { useTexts } from '../text/text.js';
import { freshAction, freshContactAction, kinds, type ActionDraft } from './action-draft.js';
import { useChannelName } from './use-channel-name.js';
import type { ActionType } from './action-types.js';
import { SchemaForm } from './schema-form.js';

export const contactsKey = ['contacts'] as const;

/** The organisation's named receivers. */
export function useContacts() {
  return useQuery({
    queryKey: contactsKey,
    queryFn: async () => (await answerOf(api.GET('/api/contacts', { params: { query: { limit: 100 } } }))).data,
  });
}

const rareSpans = ['digestSeconds', 'afterSeconds', 'expireAfterSeconds'] as const;

interface EditorProps {
  readonly types: readonly ActionType[];
  readonly action: ActionDraft;
  readonly error: unknown;
  /** Where the action stands in what is sent, for the messages about its fields. */
  readonly path: string;
  readonly onChange: (action: ActionDraft) => void;
}

function ChannelSettings({ types, action, error, path, onChange }: EditorProps): ReactNode {
  const { t, rich } = useTexts();
  const channelName = useChannelName();
  if ('contact' in action) {
    const link = (words: ReactNode): ReactNode => <Link href="/settings/contacts">{words}</Link>;
    return <p className="muted">{rich('actions.byContact', { name: action.contact, a: link })}</p>;
  }
  const type = types.find((one) => one.type === action.type);
  const prefix = path === '' ? '' : `${path}.`;
  return (
    <>
      {type?.available === false && (
        <p className="notice warn">{t('actions.unavailable', { type: channelName(action.type) })}</p>
      )}
      {type !== undefined && (
        <SchemaForm
          key={action.type}
          schema={type.configSchema}
          settings={action.config}
          faultOf={(name) => faultOf(error, `${prefix}config.${name}`)}
          onChange={(config) => onChange({ ...action, config })}
        />
      )}
    </>
  );
}

export function ActionEditor(props: EditorProps): ReactNode {
  const { t } = useTexts();
  const { action, error, path, onChange } = props;
  const prefix = path === '' ? '' : `${path}.`;
  return (
    <div className="stack">
      <ChannelSettings {...props} />
      <fieldset className="bar windows">
        <legend>{t('actions.on')}</legend>
        {kinds.map((kind) => (
          <label key={kind} className="bar">
            <input
              type="checkbox"
              checked={action.on.includes(kind)}
              onChange={({ target }) =>
                onChange({
                  ...action,
                  on: kinds.filter((one) => (one === kind ? target.checked : action.on.includes(one))),
                })
              }
            />
            {t(`actions.on.${kind}`)}
          </label>
        ))}
      </fieldset>
      <details>
        <summary className="muted">{t('schedule.more')}</summary>
        <div className="pair">
          {rareSpans.map((name) => (
            <TextField
              key={name}
              label={t(`actions.${name}`)}
              hint={t(`actions.${name}Hint`)}
              fault={faultOf(error, `${prefix}${name}`)}
              value={String(action[name])}
              onChange={(typed) => onChange({ ...action, [name]: Number(typed) })}
              input={{ type: 'number', min: 0, step: 1 }}
            />
          ))}
        </div>
      </details>
      <label className="bar">
        <input
          type="checkbox"
          checked={action.enabled}
          onChange={({ target }) => onChange({ ...action, enabled: target.checked })}
        />
        {t('actions.enabled')}
      </label>
    </div>
  );
}

const contactMark = 'contact:';

/** A choice of contacts and channels by name; those that this instance cannot send by are marked. */
export function ActionSelect(props: {
  readonly types: readonly ActionType[];
  /** Null: none is chosen yet. */
  readonly action: ActionDraft | null;
  readonly onChoose: (action: ActionDraft | null) => void;
}): ReactNode {
  const { t } = useTexts();
  const channelName = useChannelName();
  const contacts = useContacts().data ?? [];
  const { action, onChoose } = props;
  return (
    <select
      className="input"
      style={{ width: 'auto' }}
      aria-label={t('actions.type')}
      value={action === null ? '' : 'contact' in action ? `${contactMark}${action.contact}` : action.type}
      onChange={({ target: { value } }) => {
        if (value === '') onChoose(null);
        else if (value.startsWith(contactMark)) onChoose(freshContactAction(value.slice(contactMark.length)));
        else onChoose(freshAction(value));
      }}
    >
      <option value="">{t('actions.choose')}</option>
      {contacts.length > 0 && (
        <optgroup label={t('settings.contacts')}>
          {contacts.map(({ name, type }) => (
            <option key={name} value={`${contactMark}${name}`}>
              {name} ({channelName(type)})
            </option>
          ))}
        </optgroup>
      )}
      <optgroup label={t('actions.channels')}>
        <TypeOptions types={props.types} />
      </optgroup>
    </select>
  );
}

export function TypeOptions({ types }: { readonly types: readonly ActionType[] }): ReactNode {
  const { t } = useTexts();
  const channelName = useChannelName();
  return types.map(({ type, available }) => (
    <option key={type} value={type}>
      {channelName(type)}
      {available ? '' : ` – ${t('actions.notHere')}`}
    </option>
  ));
}
