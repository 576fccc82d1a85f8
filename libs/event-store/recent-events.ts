/** The newest events in memory, bounded by number and by characters: subscribers that keep up parse nothing. */
import type { EventBatch, RecordedEvent } from './event-store.js';

/** How many are kept, and how many characters of them, as they were written. Up to twice of either before the oldest go. */
export interface RecentLimits {
  readonly events: number;
  readonly characters: number;
}

export const recentLimits: RecentLimits = { events: 4_096, characters: 32_000_000 };

export class RecentEvents {
  readonly #limits: RecentLimits;
  #events: RecordedEvent[] = [];
  /** The characters of each of them. */
  #sizes: number[] = [];
  #characters = 0;
  /** The last event of each stream that has one here. */
  readonly #lastOf = new Map<string, RecordedEvent>();
  #after: number;
  #lastPosition: number;

  /** `after`: the last position of what was stored before. */
  constructor(after: number, limits: RecentLimits = recentLimits) {
    this.#limits = limits;
    this.#after = after;
    this.#lastPosition = after;
  }

  /** Every event behind this position is here. */
  get after(): number {
    return this.#after;
  }

  /** Of all events, 0 where there is none. */
  get lastPosition(): number {
    return this.#lastPosition;
  }

  lastOf(stream: string): RecordedEvent | undefined {
    return this.#lastOf.get(stream);
  }

  /** `characters`: of its data as written. In the order of their positions. */
  add(event: RecordedEvent, characters: number): void {
    this.#events.push(event);
    this.#sizes.push(characters);
    this.#characters += characters;
    this.#lastOf.set(event.stream, event);
    this.#lastPosition = event.position;
  }

  /** Drops the oldest beyond the limits; called once per group, not per event. */
  trim(): void {
    const { events, characters } = this.#limits;
    if (this.#events.length <= 2 * events && this.#characters <= 2 * characters) return;
    let dropped = 0;
    while (this.#events.length - dropped > events || this.#characters > characters) {
      this.#characters -= this.#sizes[dropped] ?? 0;
      dropped += 1;
    }
    this.#after = this.#events[dropped - 1]?.position ?? this.#after;
    for (const event of this.#events.slice(0, dropped)) {
      if (this.#lastOf.get(event.stream) === event) this.#lastOf.delete(event.stream);
    }
    this.#events = this.#events.slice(dropped);
    this.#sizes = this.#sizes.slice(dropped);
  }

  /** None of them is here any more. */
  clear(): void {
    this.#after = this.#lastPosition;
    this.#events = [];
    this.#sizes = [];
    this.#characters = 0;
    this.#lastOf.clear();
  }

  /** What a subscriber wants of the next `limit` events behind the position; `position` has to be at or behind `after`. */
  behind(position: number, limit: number, wants: (stream: string) => boolean): EventBatch {
    const from = this.#firstBehind(position);
    const passed = this.#events.slice(from, from + limit);
    return {
      events: passed.filter(({ stream }) => wants(stream)),
      position: passed.at(-1)?.position ?? this.#lastPosition,
    };
  }

  #firstBehind(position: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.position ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
