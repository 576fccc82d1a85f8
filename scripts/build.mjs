// Compiles services/ and libs/ to dist/ with swc, one file in, one file out, and joins the product into dist/product.js.
// `--if-stale` skips files whose output is newer. Types are checked by `npm run lint`, not here, so that a first start takes a second.
import { transformFile } from '@swc/core';
import { cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildConsole } from './build-console.mjs';
import { bundleProduct } from './bundle.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const onlyStale = process.argv.includes('--if-stale');
const sources = ['services', 'libs'];
const isCode = (path) => path.endsWith('.ts') && !path.endsWith('.d.ts');
/** Vite's, not ours: scripts/build-console.mjs. */
const isOfConsole = (path) => path.startsWith('services/console/');
const isForTests = (path) => /(\.(spec|contract|kit)|eventing\/given)\.ts$/.test(path);
const isAsset = (path) => /\.(css|html|svg|json|js)$/.test(path);

const modifiedAt = async (path) => (await stat(path).catch(() => null))?.mtimeMs ?? 0;

if (!onlyStale) await rm(join(root, 'dist'), { recursive: true, force: true });

let compiled = 0;
for (const folder of sources) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const from = join(entry.parentPath, entry.name);
        const relative = from.slice(root.length + 1);
        if (relative.includes('node_modules') || isForTests(relative) || isOfConsole(relative)) return;
        const to = join(root, 'dist', isCode(relative) ? relative.replace(/\.ts$/, '.js') : relative);
        if (!isCode(relative) && !isAsset(relative)) return;
        if (onlyStale && (await modifiedAt(to)) >= (await modifiedAt(from))) return;
        await mkdir(dirname(to), { recursive: true });
        compiled += 1;
        if (!isCode(relative)) return cp(from, to);
        const { code, map } = await transformFile(from, { configFile: join(root, '.swcrc') });
        await writeFile(to, `${code}\n//# sourceMappingURL=${entry.name.replace(/\.ts$/, '.js')}.map\n`);
        if (map !== undefined) await writeFile(`${to}.map`, map);
      }),
  );
}
const isBundled = (await modifiedAt(join(root, 'dist', 'product.js'))) > 0;
if (compiled > 0 || !isBundled) {
  // Imports by name (`#bus/bus`) lead to the compiled file here, and to the source by the project's own package.json.
  const imports = { '#*': './libs/*.js' };
  await writeFile(join(root, 'dist', 'package.json'), `${JSON.stringify({ type: 'module', imports }, null, 2)}\n`);
  await bundleProduct(root);
  process.stderr.write(`built ${compiled} files into dist/\n`);
}
await buildConsole(root, { onlyStale, isApiNew: compiled > 0 });
