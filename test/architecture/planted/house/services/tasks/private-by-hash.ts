// planted: private-by-hash
export class Counter {
  readonly #step = 1;
  private count = 0;

  next(): number {
    this.count += this.#step;
    return this.count;
  }
}
