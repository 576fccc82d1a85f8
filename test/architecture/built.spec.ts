/** A start builds only what is not built: a built checkout must not look stale, or every start would build once more. */
import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repository } from './planted-tree.js';

it('a checkout that was just built is not stale', () => {
  const launch = pathToFileURL(join(repository, 'scripts', 'launch.mjs')).href;
  const program = `import { buildIfStale, isStale } from '${launch}'; await buildIfStale(); console.log(isStale());`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
  expect(printed.trim()).toBe('false');
});
