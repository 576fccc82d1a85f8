import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { checkEvent, decodeEvent, encodeEvent } from '#eventing/codec';
import type { EventMetadata, NewEvent, RecordedEvent } from '#event-store/event-store';
import type { JsonObject } from '#runtime/json';
import { eventCatalogue } from './catalogue.js';
import { frozenEvents } from './frozen-events.kit.js';
import { arbitraryOf } from './zod-arbitrary.kit.js';

const metadata: EventMetadata = {
  organizationId: 'org_1',
  actor: 'key:key_1',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-21T10:00:00.000Z',
};
const recorded = (event: NewEvent): RecordedEvent => ({ ...event, stream: 's-1', revision: 0, position: 1 });
const stored = (type: string, version: number, data: JsonObject): RecordedEvent =>
  recorded({ id: 'e1', type, version, data, metadata });

const frozen = frozenEvents();
const definitions = Object.values(eventCatalogue);

describe('a stored event', () => {
  it('has a frozen file for each version that was ever written', () => {
    const wanted = definitions.flatMap(({ type, version }) =>
      Array.from({ length: version }, (_, index) => `${type}.v${index + 1}.json`),
    );
    const found = new Set(frozen.map(({ name }) => name));
    expect(wanted.filter((name) => !found.has(name))).toEqual([]);
    expect(frozen.filter(({ type }) => eventCatalogue[type] === undefined)).toEqual([]);
  });

  it.each(frozen)('is read from $name as when that was frozen', ({ type, version, stored: data, read }) => {
    const event = stored(type, version, data);
    expect(decodeEvent(event)).toEqual({ type, data: read });
    expect(() => checkEvent(event)).not.toThrow();
    // What is read by the short way is what the schema says, defaults and all.
    expect(eventCatalogue[type]?.schema.parse(read)).toEqual(read);
  });

  it.each(definitions)('of type $type comes back from encoding and JSON as it went in', ({ type, schema }) => {
    fc.assert(
      fc.property(arbitraryOf(schema), (data) => {
        const event = { type, data: data as JsonObject };
        const bytes = JSON.stringify(encodeEvent(event, 'e1', metadata));
        const back = recorded(JSON.parse(bytes) as NewEvent);
        expect(decodeEvent(back)).toEqual({ type, data: schema.parse(data) });
        expect(() => checkEvent(back)).not.toThrow();
      }),
      { numRuns: 50 },
    );
  });

  it('of a schema kind without an arbitrary fails the generator instead of being skipped', () => {
    expect(() => arbitraryOf(z.date())).toThrow(/no arbitrary for the schema kind date/);
  });
});
