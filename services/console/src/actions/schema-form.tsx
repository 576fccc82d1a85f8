/** A form from the JSON Schema of an action type's settings: each field by its type, named and explained by the schema. */
import { useId, type ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import { kindOf, textOfValue, valueOfText, type FieldSchema, type Kind, type Settings } from './field-kinds.js';

interface FieldProps {
  readonly name: string;
  readonly schema: FieldSchema;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly fault: string | null;
  readonly onChange: (value: unknown) => void;
}

function Field({ name, schema, isRequired, value, fault, onChange }: FieldProps): ReactNode {
  const { t } = useTexts();
  const id = useId();
  const kind = kindOf(schema);
  const common = {
    id,
    className: 'input',
    'aria-invalid': fault !== null,
    'aria-describedby': `${id}-note`,
    required: isRequired,
  } as const;
  const note =
    fault ?? [schema.description, schema.writeOnly === true ? t('form.secret') : ''].filter(Boolean).join(' ');
  const lines = kind === 'list' ? t('form.lines') : kind === 'map' ? t('form.pairs') : '';
  return (
    <div className="field">
      <label htmlFor={id}>
        <code>{name}</code> {isRequired ? '' : <span className="small muted">{t('form.optional')}</span>}
      </label>
      {kind === 'choice' ? (
        <select
          {...common}
          value={textOfValue('text', value)}
          onChange={({ target }) => onChange(valueOfText('text', target.value))}
        >
          <option value="" />
          {(schema.enum ?? []).map((option) => (
            <option key={String(option)} value={String(option)}>
              {String(option)}
            </option>
          ))}
        </select>
      ) : kind === 'boolean' ? (
        <input
          id={id}
          type="checkbox"
          checked={value === true || (value === undefined && schema.default === true)}
          onChange={({ target }) => onChange(target.checked)}
        />
      ) : kind === 'text' || kind === 'number' ? (
        <input
          {...common}
          type={kind === 'number' ? 'number' : 'text'}
          autoComplete="off"
          min={schema.minimum}
          max={schema.maximum}
          placeholder={schema.default === undefined ? undefined : textOfValue(kind, schema.default)}
          value={textOfValue(kind, value)}
          onChange={({ target }) => onChange(valueOfText(kind, target.value))}
        />
      ) : (
        <KeptText kind={kind} common={common} value={value} onChange={onChange} />
      )}
      <span id={`${id}-note`} className={fault === null ? 'hint' : 'fault'}>
        {note} {lines}
      </span>
    </div>
  );
}

/** Text that is read as a list, a map or JSON keeps what was typed, so that half of it can stand there. */
function KeptText(props: {
  readonly kind: Kind;
  readonly common: object;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}): ReactNode {
  const { kind, common, value, onChange } = props;
  return (
    <textarea
      {...common}
      key={kind}
      rows={kind === 'long' ? 5 : 3}
      defaultValue={textOfValue(kind, value)}
      onChange={({ target }) => onChange(valueOfText(kind, target.value))}
    />
  );
}

interface Props {
  readonly schema: FieldSchema;
  readonly settings: Settings;
  /** The message about a field of it, by name. */
  readonly faultOf: (name: string) => string | null;
  readonly onChange: (settings: Settings) => void;
}

export function SchemaForm({ schema, settings, faultOf, onChange }: Props): ReactNode {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {});
  const ordered = [...fields.filter(([name]) => required.has(name)), ...fields.filter(([name]) => !required.has(name))];
  return (
    <div className="stack">
      {ordered.map(([name, field]) => (
        <Field
          key={name}
          name={name}
          schema={field}
          isRequired={required.has(name)}
          value={settings[name]}
          fault={faultOf(name)}
          onChange={(value) => {
            const { [name]: _before, ...others } = settings;
            onChange(value === undefined ? others : { ...others, [name]: value });
          }}
        />
      ))}
    </div>
  );
}
