/**
 * Where a whole browser on Linux looks for programs to hand addresses to that it does not open itself: any page may send it to
 * `mailto:`, and it would run one of this machine with what the page wrote. Those that it finds here do nothing.
 */
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const names = ['xdg-open', 'xdg-email', 'xdg-mime', 'xdg-settings'];
const idle = '/bin/false';

export interface IdleHandlers {
  /** To be looked in first. */
  readonly folder: string;
  remove(): Promise<void>;
}

export async function createIdleHandlers(): Promise<IdleHandlers> {
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-handlers-'));
  if (process.platform === 'linux') await Promise.all(names.map((name) => symlink(idle, join(folder, name))));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
