/**
 * What is known of single nodes, by their numbers. The engine's own `Map` hashes integers into a few long chains, so that
 * thousands of nodes cost as much as their square, and its arrays are slow to copy and slower with holes: here a typed
 * array, which is zeros and costs next to nothing, says where each node's value stands in a list.
 */
const firstLength = 256;

export class NodeMap<Value> {
  /** By node: where in `#values`, 0 for nowhere. */
  #places = new Int32Array(0);
  readonly #values: (Value | undefined)[] = [undefined];
  /** False until a first value is set; most maps of a page stay empty. */
  isUsed = false;

  get(node: number): Value | undefined {
    return this.#values[this.#places[node] ?? 0];
  }

  set(node: number, value: Value | undefined): void {
    this.isUsed = true;
    if (node >= this.#places.length) {
      const grown = new Int32Array(Math.max(firstLength, 2 * this.#places.length, node + 1));
      grown.set(this.#places);
      this.#places = grown;
    }
    const place = this.#places[node] ?? 0;
    if (place > 0) this.#values[place] = value;
    else this.#places[node] = this.#values.push(value) - 1;
  }
}
