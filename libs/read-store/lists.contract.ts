/** What lists must answer: filters, order, pages, cursors. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { JsonObject } from '#runtime/json';
import { fillThings, namesIn, query, view } from './kit.contract.js';
import type { FieldFilter, PageQuery, ReadStore } from './read-store.js';

const listed = z.object({ name: z.string(), owner: z.string(), count: z.number() });

export function listContract(current: () => ReadStore): void {
  describe('lists', () => {
    const fill = (): Promise<void> => fillThings(current());
    const names = (more: Partial<PageQuery>): Promise<unknown[]> => namesIn(current(), more);

    it('filters by value, by one of several, by what a list holds, by range and by text', async () => {
      await fill();
      expect(await names({ where: [{ field: 'owner', equals: 'x' }] })).toEqual(['Bob_100%', 'ada']);
      expect(await names({ where: [{ field: 'count', oneOf: [1, 2] }] })).toEqual(['Bob_100%', 'eve']);
      expect(await names({ where: [{ field: 'tags', has: 'red' }] })).toEqual(['ada', 'eve']);
      expect(await names({ where: [{ field: 'count', from: 2 }] })).toEqual(['ada', 'eve']);
      expect(await names({ where: [{ field: 'count', from: 2, to: 2 }] })).toEqual(['eve']);
      expect(await names({ where: [{ field: 'inner.done', equals: true }] })).toEqual(['ada']);
      expect(await names({ where: [{ field: 'inner.done', equals: null }] })).toEqual(['eve']);
      expect(await names({ where: [{ fields: ['name', 'owner'], contains: 'bOB_100%' }] })).toEqual(['Bob_100%']);
      expect(await names({ where: [{ fields: ['name'], contains: '_' }] })).toEqual(['Bob_100%']);
      expect(await names({ where: [{ field: 'owner', equals: "x' OR '1'='1" }] })).toEqual([]);
    });

    it('has both ends in a range, behind an equal value too', async () => {
      await fill();
      const owned: FieldFilter = { field: 'owner', equals: 'x' };
      expect(await names({ where: [owned, { field: 'name', to: 'Bob_100%' }] })).toEqual(['Bob_100%']);
      expect(await names({ where: [owned, { field: 'name', from: 'ada' }] })).toEqual(['ada']);
      expect(await names({ where: [owned, { field: 'name', from: 'Bob_100%', to: 'ada' }] })).toEqual([
        'Bob_100%',
        'ada',
      ]);
    });

    it('sorts in both directions with the id as tie-break', async () => {
      await fill();
      expect(await names({ sort: [{ field: 'owner', descending: true }] })).toEqual(['eve', 'Bob_100%', 'ada']);
      expect(await names({ sort: [{ field: 'owner', descending: false }] })).toEqual(['ada', 'Bob_100%', 'eve']);
    });

    it('pages by offset with the true total, and past the end with nothing', async () => {
      await fill();
      expect(await current().page(view, query({ limit: 2, offset: 2 }))).toMatchObject({
        documents: [{ name: 'eve' }],
        total: 3,
      });
      expect(await current().page(view, query({ offset: 10 }))).toEqual({ documents: [], total: 3 });
      expect((await current().page(view, query({ count: false }))).total).toBeNull();
    });

    it('goes on behind a cursor', async () => {
      await fill();
      const sort = [{ field: 'owner', descending: true }];
      expect(await names({ sort, behind: { values: ['y'], id: '3' } })).toEqual(['Bob_100%', 'ada']);
      expect(await names({ sort, behind: { values: ['x'], id: '2' } })).toEqual(['ada']);
      expect(await names({ sort, behind: { values: ['x'], id: '1' } })).toEqual([]);
    });

    it('walks a list by cursor to its end, each document once, whatever the directions and however many are equal', async () => {
      const documents = Array.from({ length: 60 }, (_, index) => ({
        id: `d${String(index).padStart(2, '0')}`,
        revision: 1,
        document: { name: `n${index}`, owner: `o${index % 3}`, count: index % 4 },
      }));
      await current().save(view, documents, null);
      for (const directions of ['asc asc', 'asc desc', 'desc asc', 'desc desc']) {
        const [first, second] = directions.split(' ').map((direction) => direction === 'desc');
        const sort = [
          { field: 'owner', descending: first ?? false },
          { field: 'count', descending: second ?? false },
        ];
        const whole = await names({ sort });
        const walked: unknown[] = [];
        let behind: PageQuery['behind'];
        for (;;) {
          const page = await current().page(view, query({ sort, limit: 7, count: false, ...(behind && { behind }) }));
          walked.push(...page.documents.map(({ name: found }) => found));
          const last = page.documents.at(-1);
          if (last === undefined) break;
          const { name, owner, count } = listed.parse(last);
          behind = { values: [owner, count], id: `d${name.slice(1).padStart(2, '0')}` };
        }
        expect(walked).toEqual(whole);
        expect(new Set(walked).size).toBe(60);
        expect(await names({ sort, limit: 5, offset: 4, behind: { values: ['o1', 1], id: 'd99' } })).toEqual(
          (await names({ sort, behind: { values: ['o1', 1], id: 'd99' } })).slice(4, 9),
        );
      }
    });

    it('gives nothing for a limit of none', async () => {
      await fill();
      expect(await current().page(view, query({ limit: 0 }))).toEqual({ documents: [], total: 3 });
    });

    it('sorts what is missing before numbers, numbers before texts, texts by their bytes', async () => {
      const counts = [10, 9, -1, 0.5, '10', 'a', 'B', 'é', 'z', '', null, undefined];
      await current().save(
        view,
        counts.map((count, index) => ({
          id: String(index),
          revision: 1,
          document: { name: `${index}`, ...(count !== undefined && { count }) },
        })),
        null,
      );
      const ascending = ['10', '11', '2', '3', '1', '0', '9', '4', '6', '5', '8', '7'];
      expect(await names({ sort: [{ field: 'count', descending: false }] })).toEqual(ascending);
      expect(await names({ sort: [{ field: 'count', descending: true }] })).toEqual(ascending.toReversed());
    });

    describe('what a filter means', () => {
      const kinds: (JsonObject & { readonly name: string })[] = [
        { name: 'text', count: '5', owner: 'a.*[b]\\^$(c)|{2}+?' },
        { name: 'number', count: 5, owner: 'ÄÖ straße K' },
        { name: 'true', count: true, owner: '%_' },
        { name: 'one', count: 1, owner: 'line\nbreak' },
        { name: 'zero', count: 0, owner: '' },
        { name: 'null', count: null, owner: null },
        { name: 'missing' },
        { name: 'list', tags: ['a', 'x.y', ''] },
        { name: 'empty list', tags: [] },
      ];
      const matching: [string, FieldFilter, string[]][] = [
        ['a text is no number', { field: 'count', equals: '5' }, ['text']],
        ['a number is no text', { field: 'count', equals: 5 }, ['number']],
        ['true is one', { field: 'count', equals: true }, ['true', 'one']],
        ['null is what is missing too', { field: 'owner', equals: null }, ['null', 'missing', 'list', 'empty list']],
        ['one of none is nothing', { field: 'count', oneOf: [] }, []],
        ['one of several, each by its kind', { field: 'count', oneOf: ['5', 0] }, ['text', 'zero']],
        ['from a number on there are no texts', { field: 'count', from: 1 }, ['number', 'true', 'one']],
        ['up to a number', { field: 'count', to: 1 }, ['true', 'one', 'zero']],
        ['from a text on there are no numbers', { field: 'owner', from: 'line' }, ['number', 'one']],
        ['up to a text there are no numbers', { field: 'count', to: '9' }, ['text']],
        ['from the empty text on: all texts', { field: 'count', from: '' }, ['text']],
        ['a range without bounds is no filter', { field: 'name' }, kinds.map((document) => document.name)],
        ['a list that holds it', { field: 'tags', has: 'a' }, ['list']],
        ['dots in what a list holds', { field: 'tags', has: 'x.y' }, ['list']],
        ['the empty text in a list', { field: 'tags', has: '' }, ['list']],
        ['signs of patterns are plain text', { fields: ['owner'], contains: '.*[B]\\^$(C)|{2}+?' }, ['text']],
        ['no pattern matches', { fields: ['owner'], contains: 'a.+c' }, []],
        ['percent and underline are plain text', { fields: ['owner'], contains: '%_' }, ['true']],
        ['a line break', { fields: ['owner'], contains: 'E\nB' }, ['one']],
        ['letters outside ASCII keep their case', { fields: ['owner'], contains: 'äö' }, []],
        ['letters outside ASCII as they are', { fields: ['owner'], contains: 'ÄÖ STRAße k' }, ['number']],
        ['in any of the fields', { fields: ['owner', 'name'], contains: 'ONE' }, ['one']],
        ['in no field', { fields: [], contains: 'a' }, []],
      ];
      it.each(matching)('%s', async (_, filter, expected) => {
        const writes = kinds.map((document, index) => ({ id: `${index}`, revision: 1, document }));
        await current().save(view, writes, null);
        const found = await names({ where: [filter], sort: [] });
        expect(found).toEqual(expected);
        expect((await current().page(view, query({ where: [filter] }))).total).toBe(expected.length);
      });

      it('holds together with every other, on the same field too', async () => {
        await fill();
        const where: FieldFilter[] = [
          { field: 'count', from: 1 },
          { field: 'count', to: 2 },
          { fields: ['name', 'owner'], contains: 'b' },
          { fields: ['name', 'owner'], contains: 'x' },
        ];
        expect(await names({ where })).toEqual(['Bob_100%']);
      });

      it('never takes an object for an operator', async () => {
        await fill();
        const hostile: unknown = { $gt: '' };
        const where = [{ field: 'owner', equals: hostile as string }];
        await expect(current().page(view, query({ where }))).rejects.toThrow(TypeError);
        await expect(
          current().page(view, query({ where: [{ field: 'owner', oneOf: [hostile as string] }] })),
        ).rejects.toThrow(TypeError);
        await expect(
          current().page(view, query({ where: [{ field: 'owner', from: hostile as string }] })),
        ).rejects.toThrow(TypeError);
        await expect(
          current().page(view, query({ where: [{ field: 'tags', has: hostile as string }] })),
        ).rejects.toThrow(TypeError);
      });
    });
  });
}
