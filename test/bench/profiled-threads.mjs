// Loaded into a measured process before its program: its worker threads then write profiles of their own.
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import threads from 'node:worker_threads';

const { searchParams } = new URL(import.meta.url);
let count = 0;

threads.Worker = class extends threads.Worker {
  constructor(script, options = {}) {
    count += 1;
    const name = `${searchParams.get('name')}-${count}-${basename(String(script), '.js')}.cpuprofile`;
    const flags = ['--cpu-prof', `--cpu-prof-dir=${searchParams.get('profileFolder')}`, `--cpu-prof-name=${name}`];
    super(script, { ...options, execArgv: [...(options.execArgv ?? []), ...flags] });
  }
};
syncBuiltinESMExports();
