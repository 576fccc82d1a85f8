// Packages that only a baseline needs, kept out of the product's own dependencies: installed here on first use.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const require = createRequire(new URL('package.json', import.meta.url));
const installTimeoutMs = 120_000;

function install() {
  return new Promise((resolve) => {
    const child = spawn('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=0'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: installTimeoutMs,
    });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

function load(name) {
  try {
    return require(name);
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

/** The package, or null where it is not there and cannot be installed: then there is no baseline, and that is said. */
export async function peer(name) {
  const present = load(name);
  if (present !== null) return present;
  process.stderr.write(`installing ${name} for the baseline into test/bench/node_modules (once) …\n`);
  const installed = (await install()) ? load(name) : null;
  if (installed === null)
    process.stderr.write(`${name} could not be installed (offline?): measuring without that baseline\n`);
  return installed;
}
