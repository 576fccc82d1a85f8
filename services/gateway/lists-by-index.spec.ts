/** Every list of the API, by every set of its filters and in every order, against the indexes that MongoDB is given. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSqliteBus } from '#bus/sqlite';
import { createSqliteEventStore } from '#event-store/sqlite';
import { auditView } from '#contracts/audit';
import { deliveriesView } from '#contracts/delivery';
import { executionsView } from '#contracts/run';
import { tasksView } from '#contracts/task';
import { toIndexKeys, toRanges } from '#read-store/mongo-query';
import type { AnyView, FieldFilter, PageQuery, ReadStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { listExecutions } from './executions.routes.js';
import { listDeliveries } from './deliveries.routes.js';
import { listNotifications } from './notifications.routes.js';
import { listAudit } from './audit/routes.js';
import { startGateway, type GatewayKit, type KitStores } from './gateway.kit.js';

const at = '2026-11-24T10:00:00.000Z';

/** A value of each filter. */
const lists = [
  {
    route: listNotifications,
    filters: { tag: 'shop', status: 'active', condition: 'true', health: 'ok', externalKey: 'k', q: 'kettle' },
  },
  { route: listExecutions, filters: { status: 'failed', outcome: 'true', trigger: 'manual', from: at, to: at } },
  { route: listDeliveries, filters: { state: 'failed', actionType: 'webhook', from: at, to: at } },
  { route: listAudit, filters: { type: 'task.created', actor: 'system:delivery', resource: 'ops', from: at, to: at } },
];
const views = [tasksView, executionsView, deliveriesView, auditView].map(({ name }) => name);
const paging = ['page', 'limit', 'after', 'sort', 'include', 'includeSkipped'];
const sorts = listNotifications.query.shape.sort.unwrap().options;

const sets = (filters: object): readonly (readonly (readonly [string, string])[])[] =>
  Object.entries(filters).reduce<[string, string][][]>(
    (all, [name, value]) => [...all, ...all.map((set): [string, string][] => [...set, [name, String(value)]])],
    [[]],
  );

const isPoint = (filter: FieldFilter): boolean => 'equals' in filter || 'oneOf' in filter || 'has' in filter;
const fieldsOf = (filters: readonly FieldFilter[]): readonly string[] =>
  filters.flatMap((filter) => ('field' in filter ? [filter.field] : []));

/** Keys behind `live`, in their order. */
const keysOf = (view: AnyView): readonly (readonly string[])[] =>
  toIndexKeys(view).map((keys) => Object.keys(keys).slice(1));
const nameOf = (field: string): string => `f.${field}`;

/** It finds documents by points of the query alone, in the order that is asked for. */
function givesOrder(keys: readonly string[], { where, sort }: PageQuery): boolean {
  const points = fieldsOf(where.filter(isPoint)).map(nameOf);
  const order = [...sort.map(({ field }) => nameOf(field)), '_id'];
  const fixed = keys.findIndex((key) => !points.includes(key));
  return fixed > 0 && order.every((key, index) => keys[fixed + index] === key);
}

describe('a list of the API on MongoDB', () => {
  const asked: { readonly view: AnyView; readonly query: PageQuery }[] = [];
  let stores: KitStores;
  let gateway: GatewayKit;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const [bus, eventStore, kept] = [
      createSqliteBus(':memory:', silentLogger),
      createSqliteEventStore(':memory:'),
      createSqliteReadStore(':memory:'),
    ];
    const page: ReadStore['page'] = (view, query) => {
      // Others are asked for by what the gateway does by itself.
      if (views.includes(view.name)) asked.push({ view, query });
      return kept.page(view, query);
    };
    stores = { bus, eventStore, readStore: { ...kept, page } };
    gateway = await startGateway(stores, { ANONYMOUS_PER_MINUTE: '100000' });
    await gateway.addKey(await gateway.addOrganization('enterprise'), ['admin']);
    close = async () => {
      await gateway.stop();
      await bus.close();
      await kept.close();
      await eventStore.close();
    };
  });
  afterAll(() => close());

  async function queriesOf(path: string, parameters: readonly (readonly [string, string])[]): Promise<typeof asked> {
    asked.length = 0;
    const query = new URLSearchParams(Object.fromEntries(parameters));
    const { status, text } = await gateway.send('GET', `${path}?${query.toString()}`);
    expect({ status, text: status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
    expect(asked.length).toBeGreaterThan(0);
    return asked;
  }

  it.each(lists)('$route.path is asked with every filter that it declares', ({ route, filters }) => {
    const declared = Object.keys(route.query.shape).filter((name) => !paging.includes(name));
    expect(Object.keys(filters).toSorted()).toEqual(declared.toSorted());
  });

  it.each(lists)('$route.path is walked by an index, whatever its filters and order', async ({ route, filters }) => {
    const orders = 'sort' in route.query.shape ? sorts.map((sort) => ['sort', sort] as const) : [null];
    for (const set of sets(filters)) {
      for (const order of orders) {
        for (const { view, query } of await queriesOf(route.path, order === null ? set : [...set, order])) {
          const isWalked = keysOf(view).some((keys) => givesOrder(keys, query));
          expect(isWalked ? '' : JSON.stringify({ view: view.name, query })).toBe('');
          // Behind a cursor each part is one range of the same index.
          const behind = { values: query.sort.map(() => at), id: 'x' };
          for (const range of toRanges({ ...query, behind })) expect(Object.keys(range)).toContain('live');
        }
      }
    }
  });

  it.each(lists)('$route.path by one filter is found by an index that begins with it', async ({ route, filters }) => {
    for (const [name, value] of Object.entries(filters)) {
      // A text is found by an index of its own.
      if (name === 'q') continue;
      for (const { view, query } of await queriesOf(route.path, [[name, String(value)]])) {
        const points = fieldsOf(query.where.filter(isPoint)).map(nameOf);
        const ranges = fieldsOf(query.where.filter((filter) => !isPoint(filter)));
        const serves = (keys: readonly string[]): boolean =>
          points.every((_, index) => points.includes(keys[index] ?? '')) &&
          ranges.every((field) => keys[points.length] === nameOf(field));
        expect({ view: view.name, points, ranges, isServed: keysOf(view).some(serves) }).toMatchObject({
          isServed: true,
        });
      }
    }
  });
});
