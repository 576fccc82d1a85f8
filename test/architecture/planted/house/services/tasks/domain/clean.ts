/** Words in comments break nothing: process.env, Date.now(), enum Light. */
// oxlint-disable-next-line no-console -- a reason is given
export const at = (atMs: number): Date => new Date(atMs);
