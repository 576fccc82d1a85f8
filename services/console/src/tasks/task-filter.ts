/** What the list shows, as it stands in the address: under the API's own names, so that it can be sent to a colleague. */
import type { TaskState } from '../marks/state.js';

export const sorts = ['attention', '-createdAt', 'createdAt', 'name', '-name', 'nextRunAt'] as const;
export type Sort = (typeof sorts)[number];

export interface TaskFilter {
  readonly q?: string;
  readonly status?: 'active' | 'paused';
  readonly condition?: 'unknown' | 'false' | 'true' | 'flapping';
  readonly health?: 'ok' | 'error' | 'blocked';
  readonly tag?: string;
  readonly sort: Sort;
}

const isOneOf = <T extends string>(value: string | null, of: readonly T[]): value is T =>
  of.some((one) => one === value);

/** Passes over what the API would refuse: an old link still opens a list. */
export function filterOf(search: string): TaskFilter {
  const given = new URLSearchParams(search);
  const [status, condition, health, sort] = ['status', 'condition', 'health', 'sort'].map((name) => given.get(name));
  const q = given.get('q')?.trim().slice(0, 200) ?? '';
  const tag = given.get('tag')?.trim() ?? '';
  return {
    ...(q !== '' && { q }),
    ...(tag !== '' && { tag }),
    ...(isOneOf(status ?? null, ['active', 'paused']) && { status: status as 'active' | 'paused' }),
    ...(isOneOf(condition ?? null, ['unknown', 'false', 'true', 'flapping']) && {
      condition: condition as NonNullable<TaskFilter['condition']>,
    }),
    ...(isOneOf(health ?? null, ['ok', 'error', 'blocked']) && { health: health as NonNullable<TaskFilter['health']> }),
    sort: isOneOf(sort ?? null, sorts) ? (sort as Sort) : 'attention',
  };
}

/** The default order is left out of the address. */
export function searchOf({ sort, ...filter }: TaskFilter): string {
  const search = new URLSearchParams(Object.entries({ ...filter, ...(sort !== 'attention' && { sort }) }));
  return search.size === 0 ? '' : `?${search.toString()}`;
}

/** What the list is narrowed by, its order aside. */
export function conditionsOf({ sort: _sort, ...filter }: TaskFilter): Omit<TaskFilter, 'sort'> {
  return filter;
}

type StateFilter = Pick<TaskFilter, 'status' | 'condition' | 'health'>;

/** A condition is what a task is shown with only where it runs and its check works. */
const answering = { status: 'active', health: 'ok' } as const;

/** The buttons above the list: each state as what the API can be asked, so that a task stands under the one that it shows. */
export const stateFilters: readonly { readonly state: TaskState | null; readonly filter: StateFilter }[] = [
  { state: null, filter: {} },
  { state: 'broken', filter: { status: 'active', health: 'error' } },
  { state: 'blocked', filter: { status: 'active', health: 'blocked' } },
  { state: 'met', filter: { ...answering, condition: 'true' } },
  { state: 'flapping', filter: { ...answering, condition: 'flapping' } },
  { state: 'not-met', filter: { ...answering, condition: 'false' } },
  { state: 'unknown', filter: { ...answering, condition: 'unknown' } },
  { state: 'paused', filter: { status: 'paused' } },
];

export function isChosen(filter: TaskFilter, { status, condition, health }: StateFilter): boolean {
  return filter.status === status && filter.condition === condition && filter.health === health;
}
