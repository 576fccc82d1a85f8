/** Documents of a view that add up its others: they change with each of those, by how that was and how it is. */
import type { DocumentWrite, FieldFilter, PageQuery, ReadStore, ViewDefinition } from '#read-store/read-store';

/** null: it is not there. */
export interface Change<Document extends object> {
  readonly before: Document | null;
  readonly after: Document | null;
}

/** A change by the event at this position. */
export interface Step<Document extends object> extends Change<Document> {
  readonly revision: number;
}

/** null: it is not there any more. */
export interface Changed<Document extends object> {
  readonly revision: number;
  readonly document: Document | null;
}

export interface Sums<Document extends object> {
  /** The sums that are other ones after the change; of a change of a sum none. */
  idsOf(change: Change<Document>): readonly string[];
  /** The sum after the changes, in their order, and the revision of the last one that made a difference; null: none did. */
  changed(sum: Document | null, id: string, steps: readonly Step<Document>[]): Changed<Document> | null;
  /** What is still counted of a document once the contents of its task are gone. */
  purged(document: Document): Document | null;
  /** What a sum has to be counted by anew, where what it is without a document does not follow from it; null: it does. */
  recountedBy(sum: Document, gone: Document): readonly FieldFilter[] | null;
  /** `parts`: all that match that, those of the purged task among them. */
  recounted(sum: Document, parts: readonly Document[], gone: Document): Document;
}

/** By sum, in their order: what each of the steps changes. */
export function stepsOfEach<Document extends object>(
  { idsOf }: Pick<Sums<Document>, 'idsOf'>,
  steps: readonly Step<Document>[],
): Map<string, Step<Document>[]> {
  const each = new Map<string, Step<Document>[]>();
  for (const step of steps) {
    for (const id of idsOf(step)) {
      const known = each.get(id);
      if (known === undefined) each.set(id, [step]);
      else known.push(step);
    }
  }
  return each;
}

/** The sums after the steps. One that has seen a step's event knows it: what was cut off is gone on with, and counts once. */
function summed<Document extends object>(
  { changed }: Pick<Sums<Document>, 'changed'>,
  stepsBySum: ReadonlyMap<string, readonly Step<Document>[]>,
  stored: ReadonlyMap<string, DocumentWrite<Document>>,
): DocumentWrite<Document>[] {
  const writes: DocumentWrite<Document>[] = [];
  for (const [id, steps] of stepsBySum) {
    const { revision: seen, document: before } = stored.get(id) ?? { revision: -1, document: null };
    const after = changed(
      before,
      id,
      steps.filter(({ revision }) => revision > seen),
    );
    if (after !== null) writes.push({ id, ...after });
  }
  return writes;
}

interface SumDeps<Document extends object> {
  readonly sums?: Sums<Document>;
  readonly view: ViewDefinition<Document>;
  readonly readStore: Pick<ReadStore, 'load' | 'page'>;
}

/** What the steps make of the view's sums. */
export async function sumWrites<Document extends object>(
  { sums, view, readStore }: SumDeps<Document>,
  steps: readonly Step<Document>[],
): Promise<DocumentWrite<Document>[]> {
  if (sums === undefined || steps.length === 0) return [];
  const stepsBySum = stepsOfEach(sums, steps);
  if (stepsBySum.size === 0) return [];
  return summed(sums, stepsBySum, await readStore.load(view, [...stepsBySum.keys()]));
}

const documentsAtOnce = 500;

async function* everyPart<Document extends object>(
  { view, readStore }: SumDeps<Document>,
  where: readonly FieldFilter[],
): AsyncGenerator<Document> {
  // Nothing is written meanwhile.
  const query: PageQuery = { where, sort: [], limit: documentsAtOnce, offset: 0, count: false };
  for (let offset = 0; ; offset += documentsAtOnce) {
    const { documents } = await readStore.page(view, { ...query, offset });
    yield* documents;
    if (documents.length < documentsAtOnce) return;
  }
}

/** What the sums are once documents of a purged task are gone: those that match all filters. */
export async function sumWritesOfPurge<Document extends object>(
  deps: SumDeps<Document>,
  { where, revision }: { readonly where: readonly FieldFilter[]; readonly revision: number },
): Promise<DocumentWrite<Document>[]> {
  const { sums } = deps;
  if (sums === undefined) return [];
  const gone = await Array.fromAsync(everyPart(deps, where));
  const steps = gone.map((before): Step<Document> => ({ revision, before, after: sums.purged(before) }));
  const writes = await sumWrites(deps, steps);
  return Promise.all(
    writes.map(async (write) => {
      const { id, document } = write;
      if (document === null) return write;
      for (const step of steps) {
        const { before } = step;
        const parts = before !== null && sums.idsOf(step).includes(id) ? sums.recountedBy(document, before) : null;
        if (before === null || parts === null) continue;
        const all = await Array.fromAsync(everyPart(deps, parts));
        return { ...write, document: sums.recounted(document, all, before) };
      }
      return write;
    }),
  );
}
