/** Of the errors of a file system the one that says that nothing stands there. */

/** Whether no file or folder has that name. By its code alone: an error of another realm is no `Error` of this one. */
export function isAbsent(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return error.code === 'ENOENT' || error.code === 'ENOTDIR';
}
