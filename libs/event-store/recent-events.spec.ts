import { describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from './event-store.js';
import { RecentEvents } from './recent-events.js';

const event = (position: number, stream = `task-${position}`): RecordedEvent => ({
  id: `id-${position}`,
  type: 'task.created',
  version: 1,
  data: {},
  metadata: { organizationId: 'org', actor: 'a', requestId: 'r', causationId: null, at: '2026-11-21T10:00:00.000Z' },
  stream,
  revision: 0,
  position,
});
const all = (): boolean => true;

describe('the newest events in memory', () => {
  it('drop the oldest by number, and say behind which position they are all there', () => {
    const recent = new RecentEvents(100, { events: 4, characters: 1_000 });
    for (let position = 101; position <= 109; position += 1) recent.add(event(position), 1);
    recent.trim();
    expect(recent.after).toBe(105);
    expect(recent.lastPosition).toBe(109);
    expect(recent.behind(105, 10, all).events.map(({ position }) => position)).toEqual([106, 107, 108, 109]);
    expect(recent.behind(107, 1, all)).toMatchObject({ events: [{ position: 108 }], position: 108 });
    expect(recent.lastOf('task-105')).toBeUndefined();
    expect(recent.lastOf('task-106')).toMatchObject({ position: 106 });
  });

  it('drop the oldest by their characters, however few they are', () => {
    const recent = new RecentEvents(0, { events: 4_000, characters: 1_000 });
    for (let position = 1; position <= 5; position += 1) recent.add(event(position), 450);
    recent.trim();
    expect(recent.after).toBe(3);
    recent.add(event(6), 5_000);
    recent.trim();
    expect(recent.after).toBe(6);
    expect(recent.behind(6, 10, all)).toEqual({ events: [], position: 6 });
  });

  it('keep the last event of a stream while a newer one of it is there', () => {
    const recent = new RecentEvents(0, { events: 2, characters: 1_000 });
    for (let position = 1; position <= 5; position += 1) recent.add(event(position, 'task-a'), 1);
    recent.trim();
    expect(recent.lastOf('task-a')).toMatchObject({ position: 5 });
  });
});
