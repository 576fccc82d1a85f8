import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { tasksView } from '#contracts/task';
import type { FieldFilter, PageQuery, ViewStore } from './read-store.js';
import { createSqliteReadStore } from './sqlite.js';
import { searchedText, toPageStatements } from './sqlite-query.js';
import { anyWay, shortestWay, type Way } from './sqlite-way.js';

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
          const steps = [...planOf(rows({ limit: 20, offset: 40, backwards: false })), ...planOf(count)];
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

  it('with the one task that has a key never walks those of a status', () => {
    const query = asked([status, externalKey], 'createdAt');
    const way = { compared: ['status'], isSorted: false };
    expect(rowsBy(query, way).join('\n')).toMatch(/SEARCH view_tasks USING .*externalKey/);
    expect(planOf(toPageStatements(tasksView, query, null).count).join('\n')).toMatch(/externalKey/);
  });
});
