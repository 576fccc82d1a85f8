/** Importing this makes dist/ no older than its sources, once: spec files run beside each other and must not build over each other. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const cache = join(root, 'node_modules', '.cache');
const othersBuildMs = 120_000;

mkdirSync(cache, { recursive: true });
// A lock that ends with its process, however that ends.
const lock = new DatabaseSync(join(cache, 'e2e-build.lock'), { timeout: othersBuildMs });
try {
  lock.exec('BEGIN EXCLUSIVE');
  const launch = new URL('../../../scripts/launch.mjs', import.meta.url).href;
  const build = `import { buildIfStale } from '${launch}'; await buildIfStale();`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', build], { stdio: ['ignore', 'ignore', 'inherit'] });
} finally {
  lock.close();
}
