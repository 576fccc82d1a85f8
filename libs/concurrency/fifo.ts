/** First in, first out, each once: long, and any may go out of turn. Every step takes the same short time. */

export class Fifo<Item> {
  readonly #items = new Set<Item>();
  /** Goes on where it stopped: a new one would pass all that were taken since the set was laid out anew. */
  #next: Iterator<Item> = this.#items.values();

  get size(): number {
    return this.#items.size;
  }

  /** One that is there keeps its place. */
  push(item: Item): void {
    this.#items.add(item);
  }

  take(): Item | undefined {
    let taken = this.#next.next();
    if (taken.done === true) {
      this.#next = this.#items.values();
      taken = this.#next.next();
    }
    if (taken.done === true) return undefined;
    this.#items.delete(taken.value);
    return taken.value;
  }

  remove(item: Item): boolean {
    return this.#items.delete(item);
  }

  clear(): void {
    this.#items.clear();
  }
}
