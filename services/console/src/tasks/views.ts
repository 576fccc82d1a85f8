/** Named filters and shown columns, kept in this browser. */
import { filterOf, searchOf } from './task-filter.js';

export const columns = ['value', 'runs', 'lastRun', 'lastChange', 'next', 'tags'] as const;
export type Column = (typeof columns)[number];

export interface SavedView {
  readonly name: string;
  readonly search: string;
  readonly columns: readonly Column[];
}

const viewsKey = 'meerkat.views';
const columnsKey = 'meerkat.columns';
export const defaultColumns: readonly Column[] = ['value', 'runs', 'lastRun', 'next', 'tags'];

/** Whatever stands there that is none of ours is passed over. */
function stored<T>(key: string, isOne: (value: unknown) => value is T): readonly T[] | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    return Array.isArray(value) ? value.filter(isOne) : null;
  } catch {
    return null;
  }
}

const isColumn = (value: unknown): value is Column => columns.some((column) => column === value);
const isView = (value: unknown): value is SavedView =>
  typeof value === 'object' && value !== null && 'name' in value && 'search' in value && 'columns' in value;

const sameColumns = (one: readonly Column[], other: readonly Column[]): boolean =>
  columns.every((column) => one.includes(column) === other.includes(column));

/** Whether the list shows it: `search` as the list writes it into the address. */
export function isInSight(view: SavedView, search: string, shown: readonly Column[]): boolean {
  return searchOf(filterOf(view.search)) === search && sameColumns(view.columns, shown);
}

export const savedViews = (): readonly SavedView[] => stored(viewsKey, isView) ?? [];
export const saveViews = (views: readonly SavedView[]): void => localStorage.setItem(viewsKey, JSON.stringify(views));
export const shownColumns = (): readonly Column[] => stored(columnsKey, isColumn) ?? defaultColumns;
export const saveColumns = (shown: readonly Column[]): void => localStorage.setItem(columnsKey, JSON.stringify(shown));
