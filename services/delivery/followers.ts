/** Deliveries that wait for another one to end. Only a hint: one that is forgotten is looked at again by its own time. */

const maxAwaited = 10_000;

export class Followers {
  readonly #waiting = new Map<string, Set<string>>();

  add(before: string, waiting: string): void {
    const known = this.#waiting.get(before);
    if (known !== undefined) known.add(waiting);
    else if (this.#waiting.size < maxAwaited) this.#waiting.set(before, new Set([waiting]));
  }

  /** Those that waited for it, each once. */
  take(before: string): readonly string[] {
    const known = this.#waiting.get(before);
    if (known === undefined) return [];
    this.#waiting.delete(before);
    return [...known];
  }
}
