/** Which entries of the audit are shown: by who, what happened, what it happened to, and when; people and tasks by their names. */
import { useId, useState, type ReactNode } from 'react';
import type { paths } from '../api/schema.js';
import type { AddressFilter } from '../frame/address-filter.js';
import { Labelled, SelectField, TextField } from '../frame/labelled.js';
import { useActorNames } from '../session/actors.js';
import { useTexts } from '../text/text.js';
import { localMinute } from '../text/times.js';
import { typedActor, typedResource, type Named } from './typed-names.js';

type Query = NonNullable<paths['/api/audit']['get']['parameters']['query']>;

/** All that there are: the compiler says which one is missing. */
const types: Readonly<Record<NonNullable<Query['type']>, true>> = {
  'task.created': true,
  'task.changed': true,
  'task.paused': true,
  'task.resumed': true,
  'task.action_disabled': true,
  'task.archived': true,
  'task.purged': true,
  'task.restored': true,
  'task.shadow_started': true,
  'task.shadow_ended': true,
  'task.acknowledged': true,
  'task.recipient_left': true,
  'task.recipient_returned': true,
  'contact.saved': true,
  'contact.removed': true,
  'organization.created': true,
  'organization.changed': true,
  'member.added': true,
  'member.invited': true,
  'member.joined': true,
  'member.changed': true,
  'member.removed': true,
  'member.password_changed': true,
  'member.reset_requested': true,
  'member.second_factor_begun': true,
  'member.second_factor_confirmed': true,
  'member.second_factor_removed': true,
  'member.recovery_code_used': true,
  'member.linked': true,
  'key.created': true,
  'key.revoked': true,
  'key.rotated': true,
  'key.revealed': true,
  'session.opened': true,
  'session.superseded': true,
  'session.closed': true,
  'activity.exported': true,
  'activity.applied': true,
  'activity.run_requested': true,
  'activity.message_tested': true,
  'activity.delivery_resent': true,
  'activity.deliveries_recovered': true,
};

export const auditFilters = {
  actor: null,
  type: Object.keys(types),
  resource: null,
  from: null,
  to: null,
} satisfies Partial<Record<keyof Query, readonly string[] | null>>;

type Name = keyof typeof auditFilters;
type Typed = Readonly<Record<Name, string>>;

const minuteOf = (at: string | undefined): string =>
  at === undefined || Number.isNaN(Date.parse(at)) ? '' : localMinute(new Date(at));
const timeOf = (minute: string): string => (minute === '' ? '' : new Date(minute).toISOString());

export function AuditFilter(props: {
  readonly chosen: AddressFilter<Name>['chosen'];
  readonly choose: AddressFilter<Name>['choose'];
  /** Whose names may be typed: those that are shown first. */
  readonly tasks: readonly Named[];
  readonly nameOfResource: (id: string) => string;
}): ReactNode {
  const { chosen, choose, tasks, nameOfResource } = props;
  const { t } = useTexts();
  const { nameOf, known } = useActorNames();
  const listId = useId();
  const [changed, setChanged] = useState<Partial<Typed>>({});
  const typed: Typed = {
    actor: nameOf(chosen.actor ?? ''),
    type: chosen.type ?? '',
    resource: nameOfResource(chosen.resource ?? ''),
    from: minuteOf(chosen.from),
    to: minuteOf(chosen.to),
    ...changed,
  };
  const set = (name: Name) => (value: string) => setChanged({ ...changed, [name]: value });
  /** What was typed may be what the list shows: a name, where the API takes ids. */
  const asAsked = (): Typed => ({
    actor: typedActor(typed.actor, known),
    type: typed.type,
    resource: typedResource(typed.resource, tasks, known),
    from: changed.from === undefined ? (chosen.from ?? '') : timeOf(changed.from),
    to: changed.to === undefined ? (chosen.to ?? '') : timeOf(changed.to),
  });
  return (
    <form
      className="bar"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        choose(asAsked());
      }}
    >
      <Labelled label={t('audit.actor')}>
        {(control) => (
          <input {...control} list={listId} value={typed.actor} onChange={({ target }) => set('actor')(target.value)} />
        )}
      </Labelled>
      <datalist id={listId}>
        {known.map(({ ref, shown }) => (
          <option key={ref} value={shown} />
        ))}
      </datalist>
      <SelectField
        label={t('audit.type')}
        value={typed.type}
        options={[['', t('frame.any')], ...auditFilters.type.map((type) => [type, type] as const)]}
        onChoose={set('type')}
      />
      <TextField label={t('audit.resource')} value={typed.resource} onChange={set('resource')} />
      <TextField label={t('audit.from')} value={typed.from} onChange={set('from')} input={{ type: 'datetime-local' }} />
      <TextField label={t('audit.to')} value={typed.to} onChange={set('to')} input={{ type: 'datetime-local' }} />
      <button type="submit" className="button">
        {t('audit.filter')}
      </button>
    </form>
  );
}
