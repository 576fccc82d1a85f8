/** Where a list that was asked with `after` goes on; undefined at its end, or where it answered by page numbers. */
export function nextCursorOf(answer: object): string | undefined {
  const cursor: unknown = 'cursor' in answer ? answer.cursor : null;
  if (typeof cursor !== 'object' || cursor === null || !('next' in cursor)) return undefined;
  return typeof cursor.next === 'string' ? cursor.next : undefined;
}
