/** The rows of a page as linked columns, in which they can be moved: by node its parent, children and siblings, -1 for none. */
export interface LinkedRows {
  readonly kinds: number[];
  readonly parents: number[];
  readonly firsts: number[];
  readonly lasts: number[];
  readonly previouses: number[];
  readonly nexts: number[];
}

export function linkedRows(rows: number, kindOf: Int32Array, parentAt: Int32Array): LinkedRows {
  const kinds: number[] = [];
  const parents: number[] = [];
  const firsts: number[] = [];
  const lasts: number[] = [];
  const previouses: number[] = [];
  const nexts: number[] = [];
  for (let node = 0; node < rows; node++) {
    kinds.push(kindOf[node] ?? 0);
    const parent = parentAt[node] ?? -1;
    parents.push(parent);
    firsts.push(-1);
    lasts.push(-1);
    nexts.push(-1);
    if (parent < 0) {
      previouses.push(-1);
      continue;
    }
    const last = lasts[parent] ?? -1;
    previouses.push(last);
    if (last < 0) firsts[parent] = node;
    else nexts[last] = node;
    lasts[parent] = node;
  }
  return { kinds, parents, firsts, lasts, previouses, nexts };
}
