/**
 * What is known of single nodes, by their numbers. The engine's own `Map` hashes integers into a few long chains, so that
 * thousands of nodes cost as much as their square; here they index blocks, of which only those in use are made.
 */
const blockBits = 8;
const blockMask = (1 << blockBits) - 1;
const noValues: undefined[] = new Array<undefined>(1 << blockBits).fill(undefined);
const noBlock: never[] = [];

export class NodeMap<Value> {
  readonly #blocks: (Value | undefined)[][] = [];
  /** False until a first value is set; most maps of a page stay empty. */
  isUsed = false;

  get(node: number): Value | undefined {
    return this.#blocks[node >> blockBits]?.[node & blockMask];
  }

  set(node: number, value: Value | undefined): void {
    this.isUsed = true;
    const blocks = this.#blocks;
    const at = node >> blockBits;
    // One after the other: an array with holes is a slow one.
    while (blocks.length <= at) blocks.push(noBlock);
    let block = blocks[at] ?? noBlock;
    if (block === noBlock) {
      block = noValues.slice();
      blocks[at] = block;
    }
    block[node & blockMask] = value;
  }
}
