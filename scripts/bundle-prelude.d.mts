/** Writes the scripts of the modules compiled into `folder` as a list in JSON. Rejects where imports go in a circle. */
export function bundlePrelude(folder: string, file: string): Promise<void>;
