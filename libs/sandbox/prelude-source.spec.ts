import { describe, expect, it } from '@jest/globals';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtScript } from '#runtime/built-script';

const sources = fileURLToPath(new URL('./prelude', import.meta.url));
const modifiedAt = (path: string | URL): number => statSync(path).mtimeMs;

describe('the built prelude', () => {
  it('is no older than its modules: after a change of one, `npm run build` comes first', () => {
    const builtAt = modifiedAt(builtScript(import.meta.url, ['../../dist/evaluator/prelude.json']));
    const modules = readdirSync(sources).filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'));
    expect(modules.filter((name) => modifiedAt(join(sources, name)) > builtAt)).toEqual([]);
  });
});
