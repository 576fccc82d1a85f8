/** `nest build <service>`: what nest-cli.json names is built by the framework's own tool, with its types checked. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, type ExecFileException } from 'node:child_process';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { repository } from './planted-tree.js';

const nestCli = z.object({ projects: z.record(z.string(), z.object({ entryFile: z.string() })) });
/** Inside the project, so that packages are found from it; beside dist/, which other specs run from. */
const output = join(repository, 'node_modules', '.cache', 'nest-build');

interface End {
  readonly code: number;
  readonly text: string;
}

function run(file: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<End> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [file, ...args],
      { cwd: repository, env },
      (error: ExecFileException | null, out, err) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, text: out + err });
      },
    );
  });
}

/** Types are checked: on a busy machine that takes its time. */
const buildWithinMs = 600_000;

describe('nest build', () => {
  let built: End;

  beforeAll(async () => {
    await rm(output, { recursive: true, force: true });
    await mkdir(output, { recursive: true });
    await writeFile(join(output, 'package.json'), await readFile(join(repository, 'dist', 'package.json')));
    const config = join(output, 'tsconfig.json');
    await writeFile(
      config,
      JSON.stringify({ extends: '../../../tsconfig.build.json', compilerOptions: { outDir: '.' } }),
    );
    const nest = join(repository, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
    built = await run(nest, ['build', 'tasks', '--path', relative(repository, config)]);
  }, buildWithinMs);

  it('succeeds and writes the entry of every service that nest-cli.json names', async () => {
    expect(built).toEqual({ code: 0, text: '' });
    const { projects } = nestCli.parse(JSON.parse(await readFile(join(repository, 'nest-cli.json'), 'utf8')));
    expect(Object.keys(projects).length).toBeGreaterThan(0);
    for (const { entryFile } of Object.values(projects)) await access(join(output, `${entryFile}.js`));
  });

  it('builds a service that starts and reads its settings', async () => {
    const { PATH = '' } = process.env;
    const { code, text } = await run(join(output, 'services', 'tasks', 'main.js'), [], { PATH });
    expect(code).toBe(78);
    expect(text).toContain('ROLES: split roles need servers');
  });
});
