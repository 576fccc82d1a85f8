import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deliveriesView } from '#contracts/delivery';
import { executionsView } from '#contracts/run';
import { tasksView } from '#contracts/task';
import type { AnyView, FieldFilter, PageQuery, ViewStore } from './read-store.js';
import { createSqliteReadStore } from './sqlite.js';
import { searchedText, toPageStatements } from './sqlite-query.js';
import { anyWay, comparedBounds, shortestWay, type Way } from './sqlite-way.js';

const owner: FieldFilter = { field: 'organizationId', equals: 'o' };
const status: FieldFilter = { field: 'status', equals: 'paused' };
const condition: FieldFilter = { field: 'condition', equals: 'true' };
const health: FieldFilter = { field: 'health', equals: 'error' };
const externalKey: FieldFilter = { field: 'externalKey', equals: 'k' };
const tag: FieldFilter = { field: 'tags', has: 't' };
const text: FieldFilter = { fields: ['name', 'url'], contains: 'kettle' };

const sorts: readonly PageQuery['sort'][] = ['createdAt', 'name', 'nextRunAt', 'attention'].flatMap((field) =>
  [false, true].map((descending) => [{ field, descending }]),
);
const asked = (where: readonly FieldFilter[], field = 'name'): PageQuery => ({
  where: [owner, ...where],
  sort: [{ field, descending: false }],
  limit: 20,
  offset: 0,
  count: true,
});

/** Of a million tasks; those that pass several filters are as many as of the rarest. */
const kept =
  (counts: Readonly<Record<string, number>>) =>
  (where: readonly FieldFilter[]): number =>
    Math.min(...where.map((filter) => ('equals' in filter ? (counts[filter.field] ?? 1_000_000) : 1_000_000)));

describe('the way to the rows of a page', () => {
  const wayTo = (query: PageQuery, counts: Readonly<Record<string, number>>, wanted = 20): Way => {
    const keptTotal = kept(counts);
    const total = keptTotal(query.where.filter((filter) => 'equals' in filter));
    return shortestWay(tasksView, query, { wanted, total }, keptTotal);
  };

  it('is by a filter that few documents pass, which are sorted then', () => {
    expect(wayTo(asked([status]), { status: 900 })).toEqual({ compared: [], isSorted: true });
    expect(wayTo(asked([status, condition]), { status: 900_000, condition: 7 })).toEqual({
      compared: ['status'],
      isSorted: true,
    });
  });

  it('is along the list where most documents pass, or more than lie before the end of the page', () => {
    expect(wayTo(asked([status]), { status: 900_000 })).toEqual({ compared: ['status'], isSorted: false });
    expect(wayTo(asked([status, health]), { status: 900_000, health: 500_000 })).toEqual({
      compared: ['health', 'status'],
      isSorted: false,
    });
    expect(wayTo(asked([status]), { status: 50_000 })).toEqual({ compared: ['status'], isSorted: false });
    expect(wayTo(asked([status]), { status: 50_000 }, 10_000)).toEqual({ compared: [], isSorted: true });
  });

  it('is by the rarest filter in the order of its own index, where it has that order', () => {
    expect(wayTo(asked([status, condition], 'createdAt'), { status: 900_000, condition: 7 })).toEqual({
      compared: ['status'],
      isSorted: false,
    });
  });

  it('is by a filter of which nothing is counted, where it has an index', () => {
    expect(wayTo(asked([status, externalKey], 'createdAt'), { status: 7 })).toEqual({
      compared: ['status'],
      isSorted: false,
    });
  });

  it('is left to the engine where nothing narrows the list, or several fields sort it', () => {
    expect(wayTo(asked([]), {})).toEqual(anyWay);
    const query = { ...asked([status]), sort: [...asked([]).sort, ...asked([], 'createdAt').sort] };
    expect(wayTo(query, { status: 1 })).toEqual(anyWay);
  });
});

describe('the way to the rows of a page where a list holds a value', () => {
  /** Of a million tasks so many have what is asked for, by the names of the fields. */
  const wayTo = (query: PageQuery, counts: Readonly<Record<string, number>>, wanted = 20): Way =>
    shortestWay(tasksView, query, { wanted, total: null }, (where) => {
      const fields = where.map((filter) => ('field' in filter ? filter.field : '')).filter((field) => field in counts);
      const joint = counts[fields.toSorted().join('+')];
      return joint ?? Math.min(1_000_000, ...fields.map((field) => counts[field] ?? 1_000_000));
    });

  it('is along the rows of the value, in whatever order, where most of them pass', () => {
    expect(wayTo(asked([tag]), { tags: 990_000 })).toEqual({ compared: [], isSorted: false });
    expect(wayTo(asked([tag, status]), { tags: 990_000, status: 500_000 })).toEqual({
      compared: ['status'],
      isSorted: false,
    });
    expect(wayTo(asked([tag, status]), { tags: 40, status: 900_000 })).toEqual({
      compared: ['status'],
      isSorted: false,
    });
  });

  it('is by a filter of the table that fewer documents pass', () => {
    const counts = { tags: 990_000, status: 50 };
    expect(wayTo(asked([tag, status]), counts)).toEqual({ compared: [], isSorted: true, isOfTable: true });
    expect(wayTo(asked([tag, health, status], 'createdAt'), { ...counts, health: 500_000 })).toEqual({
      compared: ['health'],
      isSorted: true,
      isOfTable: true,
    });
  });

  it('is by a filter that the rows of the value have too, in its order where it has that', () => {
    const counts = { tags: 50_000, condition: 40_000, 'condition+tags': 30 };
    expect(wayTo(asked([tag, condition]), counts)).toEqual({ compared: [], isSorted: true });
    expect(wayTo(asked([tag, condition], 'createdAt'), counts)).toEqual({ compared: [], isSorted: false });
  });

  it('is by a key, which one document has', () => {
    expect(wayTo(asked([tag, externalKey], 'createdAt'), { tags: 990_000 })).toEqual(anyWay);
  });
});

const trigger: FieldFilter = { field: 'trigger', oneOf: ['schedule', 'manual'] };
const failed: FieldFilter = { field: 'status', equals: 'failed' };
const statuses: FieldFilter = { field: 'status', oneOf: ['succeeded', 'failed'] };
const outcome: FieldFilter = { field: 'outcome', equals: null };
const day: FieldFilter = { field: 'queuedAt', from: '2026-01-02', to: '2026-01-03' };
const executions = (where: readonly FieldFilter[]): PageQuery => ({
  ...asked(where),
  sort: [{ field: 'queuedAt', descending: true }],
});

describe('the way to the rows of a page whose filters one index serves together', () => {
  /** Of a million runs so many pass all filters. */
  const wayTo = (
    where: readonly FieldFilter[],
    passing: number,
    stretch = { wanted: 20, total: null as number | null },
  ) => shortestWay(executionsView, executions(where), stretch, (kept) => (kept.length === 1 ? 1_000_000 : passing));

  it('is by that index where few documents pass, whether or not somebody has counted', () => {
    const found = { compared: [], isSorted: true };
    expect(wayTo([trigger, failed], 2_000)).toEqual(found);
    expect(wayTo([trigger, statuses, outcome], 0)).toEqual(found);
    expect(wayTo([trigger, failed, day], 900_000, { wanted: 20, total: 3 })).toEqual(found);
    expect(wayTo([trigger, failed], 50_000, { wanted: 10_000, total: null })).toEqual(found);
  });

  it('is along the list where many do', () => {
    expect(wayTo([trigger, failed], 900_000)).toEqual({ compared: ['trigger', 'status'], isSorted: false });
    expect(wayTo([trigger, statuses, outcome], 50_000)).toEqual({
      compared: ['trigger', 'status', 'outcome'],
      isSorted: false,
    });
  });

  it('is by the order of that index where each of its fields has one value', () => {
    const manual: FieldFilter = { field: 'trigger', equals: 'manual' };
    expect(wayTo([manual, failed, outcome], 900_000)).toEqual(anyWay);
  });

  it('compares the bounds of a time in which more documents lie than pass the filters', () => {
    const boundsOf = (where: readonly FieldFilter[], passing: number, within: number): readonly string[] =>
      comparedBounds(
        executionsView,
        executions(where),
        () => passing,
        (_, than) => within > than,
      );
    expect(boundsOf([trigger, failed, day], 2_000, 170_000)).toEqual(['queuedAt']);
    expect(boundsOf([trigger, failed, day], 2_000, 60)).toEqual([]);
    expect(boundsOf([trigger, failed], 2_000, 170_000)).toEqual([]);
    // The index has the time behind these.
    expect(boundsOf([trigger, failed, outcome, day], 2_000, 170_000)).toEqual([]);
  });
});

describe('the list of tasks in SQLite', () => {
  let folder: string;
  let store: ViewStore;
  let database: DatabaseSync;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'meerkat-way-'));
    store = createSqliteReadStore(join(folder, 'views.db'));
    await store.page(tasksView, asked([]));
    database = new DatabaseSync(join(folder, 'views.db'), { readOnly: true });
  });
  afterAll(async () => {
    database.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const planOf = ({ sql, values }: ReturnType<ReturnType<typeof toPageStatements>['rows']>): readonly string[] =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...values)
      .map(({ detail }) => String(detail));
  /** What was found is gone through, and what a virtual table looked up. */
  const isScan = (step: string): boolean => /^SCAN (?!page|found)/.test(step) && !/USING|VIRTUAL TABLE/.test(step);
  const rowsBy = (query: PageQuery, way: Way): readonly string[] =>
    planOf(toPageStatements(tasksView, query, null).rows({ limit: 20, offset: 40, backwards: false }, way));

  const subsets = (filters: readonly FieldFilter[]): readonly FieldFilter[][] =>
    filters.reduce<FieldFilter[][]>((sets, filter) => [...sets, ...sets.map((set) => [...set, filter])], [[]]);

  it('is found by an index, whatever filters and order are asked for', () => {
    const sets = subsets([status, condition, health, externalKey, tag, text]);
    expect(sets).toHaveLength(64);
    for (const where of sets) {
      for (const sort of sorts) {
        const query = { ...asked(where), sort };
        for (const looked of [null, searchedText(tasksView, query)]) {
          const { rows, count } = toPageStatements(tasksView, query, looked);
          const steps = [...planOf(rows({ limit: 20, offset: 40, backwards: false })), ...planOf(count())];
          expect({ where, sort, scans: steps.filter(isScan) }).toEqual({ where, sort, scans: [] });
        }
      }
    }
  });

  it('is sorted where the rows are found by a filter, and walked in order where they are not', () => {
    const found = rowsBy(asked([status, condition]), { compared: ['status'], isSorted: true });
    expect(found.join('\n')).toMatch(/SEARCH view_tasks USING .*condition/);
    expect(found.join('\n')).toContain('USE TEMP B-TREE FOR ORDER BY');
    const walked = rowsBy(asked([status, condition]), { compared: ['condition', 'status'], isSorted: false });
    expect(walked[0]).not.toMatch(/condition|status/);
    expect(walked.join('\n')).toMatch(/SEARCH view_tasks USING .*name/);
    const ordered = rowsBy(asked([status, condition], 'createdAt'), { compared: ['status'], isSorted: false });
    expect(ordered.join('\n')).toMatch(/SEARCH view_tasks USING .*condition/);
  });

  it('by a tag and what its rows have not is walked in every order, or found by what few have', () => {
    for (const sort of sorts) {
      const query = { ...asked([tag, status, health]), sort };
      const walked = rowsBy(query, { compared: ['status', 'health'], isSorted: false });
      expect(walked.join('\n')).toMatch(/SEARCH values_tasks:tags USING COVERING INDEX/);
      expect(walked[1]).toMatch(/^SEARCH values_tasks:tags/);
      expect(walked[2]).toMatch(/^SEARCH view_tasks USING INTEGER PRIMARY KEY/);
      expect(walked.slice(0, 3).join('\n')).not.toContain('TEMP B-TREE');
      const found = rowsBy(query, { compared: ['health'], isSorted: true, isOfTable: true });
      expect(found.join('\n')).toMatch(/SEARCH view_tasks USING INDEX view_tasks_by_organizationId_status_createdAt/);
      const [total, ...others] = planOf(toPageStatements(tasksView, query, null).count());
      expect(total).toMatch(/^SEARCH totals_tasks:tags USING PRIMARY KEY/);
      expect(others).toEqual([]);
    }
  });

  it('by a tag and a key is found by the key', () => {
    const query = asked([tag, externalKey], 'createdAt');
    expect(planOf(toPageStatements(tasksView, query, null).count()).join('\n')).toMatch(
      /SEARCH view_tasks USING INDEX \w+externalKey/,
    );
  });

  it('with the one task that has a key never walks those of a status', () => {
    const query = asked([status, externalKey], 'createdAt');
    const way = { compared: ['status'], isSorted: false };
    expect(rowsBy(query, way).join('\n')).toMatch(/SEARCH view_tasks USING .*externalKey/);
    expect(planOf(toPageStatements(tasksView, query, null).count()).join('\n')).toMatch(/externalKey/);
  });
});

describe('the lists of executions and deliveries in SQLite', () => {
  let folder: string;
  let store: ViewStore;
  let database: DatabaseSync;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'meerkat-way-'));
    store = createSqliteReadStore(join(folder, 'views.db'));
    await store.page(executionsView, { ...asked([]), sort: [] });
    await store.page(deliveriesView, { ...asked([]), sort: [] });
    database = new DatabaseSync(join(folder, 'views.db'), { readOnly: true });
  });
  afterAll(async () => {
    database.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const state: FieldFilter = { field: 'state', equals: 'failed' };
  const states: FieldFilter = { field: 'state', oneOf: ['delivered', 'failed'] };
  const channel: FieldFilter = { field: 'actionType', equals: 'email' };
  const found: Way = { compared: [], isSorted: true };

  const planOf = ({ sql, values }: ReturnType<ReturnType<typeof toPageStatements>['rows']>): readonly string[] =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...values)
      .map(({ detail }) => String(detail));

  const few: readonly [string, AnyView, string, readonly FieldFilter[]][] = [
    ['executions by trigger', executionsView, 'queuedAt', [{ field: 'trigger', equals: 'manual' }]],
    ['executions by status', executionsView, 'queuedAt', [trigger, failed]],
    ['executions by outcome', executionsView, 'queuedAt', [trigger, statuses, outcome]],
    ['executions by status and outcome', executionsView, 'queuedAt', [trigger, failed, outcome]],
    ['deliveries by state', deliveriesView, 'createdAt', [state]],
    ['deliveries by channel', deliveriesView, 'createdAt', [states, channel]],
  ];
  it.each(few)('%s, where few pass, are found in the index of all filters alone', (_, view, order, where) => {
    const time: FieldFilter = { field: order, from: '2026-01-02', to: '2026-01-03' };
    const behind = { values: ['2026-01-02'], id: 'a' };
    for (const bounds of [[], [time]]) {
      for (const cursor of [{}, { behind }]) {
        const query = {
          ...asked([...where, ...bounds]),
          sort: [{ field: order, descending: true }],
          ...cursor,
        };
        const { rows } = toPageStatements(view, query, null);
        const compared = bounds.length === 0 ? [] : [order];
        const steps = planOf(rows({ limit: 20, offset: 40, backwards: false }, { ...found, compared }));
        expect(steps.join('\n')).toMatch(/SEARCH view_\w+ USING COVERING INDEX \w+_by_organizationId_(trigger|state)_/);
      }
    }
  });

  it.each(few)('%s are counted without a look at the list', (_, view, order, where) => {
    const query = { ...asked(where), sort: [{ field: order, descending: true }] };
    const steps = planOf(toPageStatements(view, query, null).count());
    expect(steps).toHaveLength(1);
    expect(steps[0]).toMatch(/^SEARCH totals_\w+ USING PRIMARY KEY/);
  });

  it('go on behind a cursor where it stands', () => {
    const query = { ...executions([trigger, failed]), behind: { values: ['2026-01-02'], id: 'a' } };
    const walked: Way = { compared: ['trigger', 'status'], isSorted: false };
    const { rows } = toPageStatements(executionsView, query, null);
    const [first] = planOf(rows({ limit: 20, offset: 0, backwards: false }, walked)).filter((step) =>
      step.includes('view_executions'),
    );
    expect(first).toMatch(/by_organizationId_queuedAt \(field_organizationId=\? AND field_queuedAt<\?\)/);
  });
});
