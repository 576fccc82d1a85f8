/** The objects that stand for nodes: one per node, made when first asked for. */
import { NodeMap } from './node-map.js';

let create: (node: number) => object = () => ({});
const made = new NodeMap<object>();

export function createWrappersBy(factory: (node: number) => object): void {
  create = factory;
}

/** The object of a node; null for none. */
export function wrap(node: number): object | null {
  if (node < 0) return null;
  const known = made.get(node);
  if (known !== undefined) return known;
  const object = create(node);
  made.set(node, object);
  return object;
}

/** For a node that was made by constructing its object. */
export function adopt(node: number, object: object): void {
  made.set(node, object);
}
