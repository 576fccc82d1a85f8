/** Flags of Node.js that take away what neither the evaluator process nor its threads need. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Those of them that this version of Node.js has: it does not start with others. */
export function knownFlags(flags: readonly string[]): readonly string[] {
  return flags.filter((flag) => process.allowedNodeEnvironmentFlags.has(flag));
}

/** `node:sqlite` opens files whatever the permission model says. */
export const closedFeatures = ['--no-addons', ...knownFlags(['--no-experimental-sqlite'])];

/** A thread may not start another: that one could be started without the permission model. */
export function threadFlags(workerUrl: URL): readonly string[] {
  return ['--permission', `--allow-fs-read=${dirname(fileURLToPath(workerUrl))}`, ...closedFeatures];
}
