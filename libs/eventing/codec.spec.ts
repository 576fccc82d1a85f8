import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { eventCatalogue } from '#contracts/catalogue';
import { catalogueOf, defineEvent } from '#contracts/event';
import { createCodec, decodeEvent, encodeEvents } from './codec.js';
import type { EventMetadata, NewEvent } from '#event-store/event-store';

const metadata: EventMetadata = {
  organizationId: 'org_1',
  actor: 'key:key_1',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-21T10:00:00.000Z',
};
const source = { commandId: 'c1', metadata };
const recorded = (event: NewEvent) => ({ ...event, stream: 's-1', revision: 0, position: 1 });

describe('the codec', () => {
  it('derives event ids from the command: the same from the same, others from another', () => {
    const events = [
      { type: 'task.paused', data: {} },
      { type: 'task.resumed', data: {} },
    ];
    const ids = encodeEvents(events, source).map(({ id }) => id);
    expect(encodeEvents(events, source).map(({ id }) => id)).toEqual(ids);
    expect(new Set([...ids, ...encodeEvents(events, { ...source, commandId: 'c2' }).map(({ id }) => id)]).size).toBe(4);
  });

  it('rejects an event that is not in the catalogue or does not fit its schema', () => {
    expect(() => encodeEvents([{ type: 'task.exploded', data: {} }], source)).toThrow(/catalogue/);
    expect(() => encodeEvents([{ type: 'task.archived', data: { externalKey: 7 } }], source)).toThrow(/externalKey/);
  });

  it('decodes an event as it was encoded', () => {
    const event = { type: 'task.archived', data: { externalKey: 'k' } };
    const [stored] = encodeEvents([event], source);
    if (stored === undefined) throw new Error('nothing was encoded');
    expect(decodeEvent(recorded(stored))).toEqual(event);
  });

  const things = () => ({
    codec: createCodec(
      catalogueOf([
        defineEvent('thing.named', {
          version: 3,
          schema: z.object({ names: z.array(z.string()), by: z.string() }),
          upcast: [({ name }) => ({ names: [JSON.stringify(name)] }), (data) => ({ ...data, by: 'unknown' })],
        }),
      ]),
    ),
    stored: (version: number, data: NewEvent['data']) =>
      recorded({ id: '1', type: 'thing.named', version, data, metadata }),
  });

  it('upcasts older versions to the newest shape step by step', () => {
    const { codec, stored } = things();
    const newest = { type: 'thing.named', data: { names: ['a'], by: 'unknown' } };
    expect(codec.decodeEvent(stored(1, { name: 'a' }))).toEqual({
      ...newest,
      data: { ...newest.data, names: ['"a"'] },
    });
    expect(codec.decodeEvent(stored(2, { names: ['a'] }))).toEqual(newest);
    expect(codec.decodeEvent(stored(3, { names: ['a'], by: 'unknown' }))).toEqual(newest);
  });

  it('validates upcast events, and events of the current version only where others may have written them', () => {
    const { codec, stored } = things();
    const wrong = { names: 7, by: 'a' };
    expect(() => codec.decodeEvent(stored(2, { names: 7 }))).toThrow(/s-1@0: cannot read thing.named v2: names: /);
    expect(codec.decodeEvent(stored(3, wrong)).data).toEqual(wrong);
    expect(() => codec.checkEvent(stored(3, wrong))).toThrow(/s-1@0: cannot read thing.named v3: names: /);
    expect(() => codec.checkEvent(stored(1, { name: 'a' }))).not.toThrow();
  });

  it('rejects an event that lacks an upcaster, and a type that is declared twice', () => {
    const schema = z.object({});
    expect(() => defineEvent('thing.named', { version: 2, schema })).toThrow(/needs 1 upcasters/);
    const thing = defineEvent('thing.named', { version: 1, schema });
    expect(() => catalogueOf([thing, thing])).toThrow(/twice/);
  });

  it('names the event that it cannot read', () => {
    const event = { id: '1', type: 'task.paused', version: 99, data: {}, metadata };
    expect(() => decodeEvent(recorded(event))).toThrow(/s-1@0: cannot read task.paused v99/);
    expect(() => decodeEvent(recorded({ ...event, type: 'no.such' }))).toThrow(/the type is unknown/);
  });

  it('knows every event that the services record', () => {
    for (const { version, schema } of Object.values(eventCatalogue)) {
      expect(version).toBeGreaterThanOrEqual(1);
      expect(schema.safeParse('not an event').success).toBe(false);
    }
  });
});
