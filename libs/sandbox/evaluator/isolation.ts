/** What the machine offers to shut the evaluator process in, besides Node's permission model. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

export interface MachineIsolation {
  /** What starts the program that follows it; empty: nothing. */
  readonly launcher: readonly string[];
  /** It has a network of its own, with no way out. */
  readonly network: boolean;
  /** It sees no other process, so it can signal none. */
  readonly signals: boolean;
}

export const noIsolation: MachineIsolation = { launcher: [], network: false, signals: false };

const tools = ['/usr/bin/unshare', '/bin/unshare'];
const probeMs = 2_000;
/** A user namespace gives the right to make the others; nobody inside it has none of its own. */
const asNobody = ['--user', '--map-user=65534', '--map-group=65534'];
/** The launcher stays as the parent: once it is killed, so is what it started. */
const ownProcesses = ['--pid', '--kill-child'];
/** The best first. */
const forms = [
  { words: [...asNobody, '--net', '--ipc', ...ownProcesses], network: true, signals: true },
  { words: [...asNobody, '--net', '--ipc'], network: true, signals: false },
  { words: [...asNobody, ...ownProcesses], network: false, signals: true },
] as const;

function measure(): MachineIsolation {
  const tool = process.platform === 'linux' ? tools.find((path) => existsSync(path)) : undefined;
  if (tool === undefined) return noIsolation;
  for (const { words, network, signals } of forms) {
    const launcher = [tool, ...words];
    const tried = spawnSync(tool, [...words, tool, '--version'], { env: {}, stdio: 'ignore', timeout: probeMs });
    if (tried.status === 0) return { launcher, network, signals };
  }
  return noIsolation;
}

let measured: MachineIsolation | null = null;

/** Tried once in a process: kernels and containers often forbid what the tool offers. */
export function machineIsolation(): MachineIsolation {
  return (measured ??= measure());
}
