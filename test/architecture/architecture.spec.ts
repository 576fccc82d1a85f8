/** The rules themselves under test: each planted violation is reported by its rule alone, and no rule is without one. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';
import { brokenRules, houseRules, sourceFiles, type BrokenRule } from './house-rules.js';
import { byFile, inPlantedTree, outputOf, plantedIn, repository, type Reports } from './planted-tree.js';

const lintOutput = z.object({
  diagnostics: z.array(z.object({ filename: z.string(), code: z.string().default('no rule') })),
});
const lintRules = z.record(z.string(), z.unknown());
const lintConfig = z.object({
  rules: lintRules,
  overrides: z.array(z.object({ rules: lintRules })),
});
const cruiseOutput = z.object({
  summary: z.object({
    violations: z.array(z.object({ from: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});
const cruiseConfig = z.object({
  forbidden: z.array(
    z.object({
      name: z.string(),
      comment: z.string().min(1),
      from: z.object({ path: z.union([z.string(), z.array(z.string())]).optional() }),
      to: z.object({ path: z.union([z.string(), z.array(z.string())]).optional() }),
    }),
  ),
});
const found = z.array(z.unknown()).default([]);
const unusedOutput = z.object({
  issues: z.array(z.object({ file: z.string(), exports: found, files: found, types: found })),
});
const manifest = z.object({ dependencies: z.record(z.string(), z.string()) });

const rulesIn = (reports: Reports): readonly string[] => [...new Set(Object.values(reports).flat())].sort();

/** `typescript(no-explicit-any)` as the configuration writes it: `typescript/no-explicit-any`. */
const ruleOfCode = (code: string): string =>
  code.replace(/^eslint\((.*)\)$/, '$1').replace(/^([^(]+)\((.*)\)$/, '$1/$2');

const switchedOn = (rules: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(rules)
    .filter(([, setting]) => setting !== 'off')
    .map(([name]) => name);

function rulesOfCruiser(): z.infer<typeof cruiseConfig> {
  return cruiseConfig.parse(createRequire(import.meta.url)(join(repository, '.dependency-cruiser.cjs')));
}

describe('the linter', () => {
  it('reports every planted violation by its own rule, and nothing else', async () => {
    await inPlantedTree('lint', async (folder) => {
      const printed = await outputOf(
        'oxlint/bin/oxlint',
        ['--type-aware', '--type-check', '--format=json', 'libs', 'services'],
        folder,
      );
      const { diagnostics } = lintOutput.parse(JSON.parse(printed));
      const reported = byFile(diagnostics.map(({ filename, code }) => ({ path: filename, rule: ruleOfCode(code) })));
      expect(reported).toEqual(await plantedIn(folder));
    });
  });

  it('has a planted violation for each enabled rule, and one of the types', async () => {
    const config = lintConfig.parse(JSON.parse(await readFile(join(repository, '.oxlintrc.json'), 'utf8')));
    const on = [config.rules, ...config.overrides.map((override) => override.rules)].flatMap(switchedOn);
    const planted = rulesIn(await plantedIn(join(repository, 'test/architecture/planted/lint')));
    expect(planted).toEqual([...new Set([...on, 'typescript/TS2322'])].sort());
  });
});

describe('the boundaries', () => {
  it('report every planted violation by its own rule, and nothing else', async () => {
    await inPlantedTree('boundaries', async (folder) => {
      const printed = await outputOf(
        'dependency-cruiser/bin/dependency-cruise.mjs',
        ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'libs', 'services'],
        folder,
      );
      const { violations } = cruiseOutput.parse(JSON.parse(printed)).summary;
      expect(byFile(violations.map(({ from, rule }) => ({ path: from, rule: rule.name })))).toEqual(
        await plantedIn(folder),
      );
    });
  });

  it('have a planted violation for each rule', async () => {
    const planted = rulesIn(await plantedIn(join(repository, 'test/architecture/planted/boundaries')));
    const rules = new Set(rulesOfCruiser().forbidden.map(({ name }) => name));
    expect(planted).toEqual([...rules].sort());
  });

  it('rank each library above those that it may import', async () => {
    const places = rulesOfCruiser()
      .forbidden.filter(({ name }) => name === 'libs-point-down')
      .map(({ from }) => String(from.path));
    const libraries = (await readdir(join(repository, 'libs'))).map((name) => `^libs/${name}/`);
    expect(places.sort()).toEqual(libraries.sort());
  });

  it('give each package of the product one home, except the framework and the schema language', async () => {
    const everywhere = /^(@nestjs\/(common|core|cqrs)|rxjs|reflect-metadata|zod)$/;
    // The API reader, whose files are served and never imported.
    const neverImported = /^openapi-explorer$/;
    const { dependencies } = manifest.parse(JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')));
    const homes = rulesOfCruiser()
      .forbidden.filter(({ name }) => name.startsWith('vendor-'))
      .flatMap(({ to }) => to.path ?? [])
      .map((pattern) => new RegExp(pattern));
    const homeless = Object.keys(dependencies)
      .filter((name) => !everywhere.test(name) && !neverImported.test(name))
      .filter((name) => !homes.some((home) => home.test(name)));
    expect(homeless).toEqual([]);
  });
});

describe('what nothing uses', () => {
  const kinds = ['exports', 'files', 'types'] as const;

  it('is reported by its kind for every planted violation, and nothing else', async () => {
    await inPlantedTree('unused', async (folder) => {
      const args = ['--no-progress', '--reporter', 'json', '--include', kinds.join(',')];
      const { issues } = unusedOutput.parse(JSON.parse(await outputOf('knip/bin/knip.js', args, folder)));
      const reported = issues.flatMap((issue) =>
        kinds.filter((kind) => issue[kind].length > 0).map((rule) => ({ path: issue.file, rule })),
      );
      expect(byFile(reported)).toEqual(await plantedIn(folder));
    });
  });

  it('has a planted violation for each kind', async () => {
    expect(rulesIn(await plantedIn(join(repository, 'test/architecture/planted/unused')))).toEqual(kinds);
  });
});

describe('the house rules', () => {
  let broken: readonly (BrokenRule & { readonly path: string })[] = [];

  beforeAll(async () => {
    // The rules' own text names what it looks for.
    const files = await sourceFiles(
      repository,
      ['libs', 'services', 'test', 'scripts', 'bin'],
      /(^|\/)node_modules\/|^test\/architecture\//,
    );
    broken = files.flatMap(({ path, text }) => brokenRules(path, text).map((rule) => ({ ...rule, path })));
  });

  it('report every planted violation by its own rule, and nothing else', async () => {
    const folder = join(repository, 'test/architecture/planted/house');
    const files = await sourceFiles(folder, ['libs', 'services'], /(^|\/)node_modules\//);
    const reported = files.flatMap(({ path, text }) => brokenRules(path, text).map(({ rule }) => ({ path, rule })));
    expect(byFile(reported)).toEqual(await plantedIn(folder));
  });

  it('have a planted violation for each rule', async () => {
    const planted = rulesIn(await plantedIn(join(repository, 'test/architecture/planted/house')));
    expect(planted).toEqual(houseRules.map(({ name }) => name).sort());
  });

  it.each(houseRules.map((rule) => [rule.name, rule.advice] as const))('hold everywhere: %s. %s', (name) => {
    const breaking = broken.filter(({ rule }) => rule === name);
    expect(breaking.map(({ path, line, found }) => `${path}:${line}: ${found}`)).toEqual([]);
  });
});
