import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { z } from 'zod';
import { builtScript } from '#runtime/built-script';
import { bundlePrelude } from '../../scripts/bundle-prelude.mjs';

const sources = fileURLToPath(new URL('./prelude', import.meta.url));
const modifiedAt = (path: string | URL): number => statSync(path).mtimeMs;

describe('the built prelude', () => {
  it('is at least as new as its modules (otherwise run `npm run build`)', () => {
    const builtAt = modifiedAt(builtScript(import.meta.url, ['../../dist/evaluator/prelude.json']));
    const modules = readdirSync(sources).filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'));
    expect(modules.filter((name) => modifiedAt(join(sources, name)) > builtAt)).toEqual([]);
  });
});

describe('the bundler of the prelude', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'prelude-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function bundle(modules: Readonly<Record<string, string>>): Promise<readonly string[]> {
    for (const [name, source] of Object.entries(modules)) writeFileSync(join(folder, `${name}.js`), source);
    await bundlePrelude(folder, join(folder, 'prelude.json'));
    return z.array(z.string()).parse(JSON.parse(readFileSync(join(folder, 'prelude.json'), 'utf8')));
  }

  /** The result of `guestEntry.run()` once all scripts were evaluated. */
  function entryResult(scripts: readonly string[]): unknown {
    const context = createContext({});
    const [last = '', ...others] = [...scripts].reverse();
    for (const script of others.reverse()) runInContext(script, context);
    return runInContext(`(${last}).run()`, context);
  }

  it('evaluates modules after their imports, and lazy ones on first use', async () => {
    const scripts = await bundle({
      main: `import { lazyModule } from './a-lazy.js'; import { one as first } from './z.js';
        const more = lazyModule('more');
        export const guestEntry = { run: () => [first, more().sum] };`,
      'a-lazy': 'export const lazyModule = (name) => () => loadLazyModule(name);',
      z: 'export const one = 1;',
      more: `import { two } from './only-lazy.js'; import { one } from './z.js'; export const sum = one + two;`,
      'only-lazy': 'export const two = 2;',
    });
    expect(entryResult(scripts)).toEqual([1, 3]);
  });

  it('removes comments, and keeps strings that look like them', async () => {
    const scripts = await bundle({
      main: `/** A comment. */ export const guestEntry = { run: () => ['/** kept */', \`
// kept too\`] }; // another comment`,
    });
    expect(entryResult(scripts)).toEqual(['/** kept */', '\n// kept too']);
    expect(scripts.join('')).not.toMatch(/omment/);
  });

  it('rejects circular imports', async () => {
    const modules = {
      main: `import { a } from './a.js'; export const guestEntry = { a };`,
      a: `import { b } from './b.js'; export const a = b;`,
      b: `import { a } from './a.js'; export const b = a;`,
    };
    await expect(bundle(modules)).rejects.toThrow('main → a → b → a');
  });
});
