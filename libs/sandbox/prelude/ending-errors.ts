/** Errors of ours that end a run by a reason of their own, told from those that code makes. */
const { apply } = Reflect;
const [RealError, RealWeakMap] = [Error, WeakMap];
const reasons = new RealWeakMap<object, string>();
const setReason = RealWeakMap.prototype.set;
const getReason = RealWeakMap.prototype.get;

export type EndingReason = 'number_not_found' | 'not_a_number' | 'not_rendered';

export function endingError(reason: EndingReason, message: string): Error {
  const error = new RealError(message);
  apply(setReason, reasons, [error, reason]);
  return error;
}

/** null: an error like any other. */
export function endingReasonOf(thrown: object): string | null {
  return (apply(getReason, reasons, [thrown]) as string | undefined) ?? null;
}
