/**
 * Runs a tool over a planted tree as if that tree were the repository: it is copied to a temporary folder beside the
 * real configuration, so that the very rules in force are tried, path patterns included.
 */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceFiles } from './house-rules.js';

export const repository = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

const configurations = ['.oxlintrc.json', '.dependency-cruiser.cjs', 'knip.jsonc', 'package.json', 'tsconfig.json'];
const toolTimeoutMs = 60_000;

/** Calls `use` with a temporary copy of `planted/<name>`, which is removed afterwards. */
export async function inPlantedTree<Result>(name: string, use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), `meerkat-planted-${name}-`));
  try {
    await cp(join(repository, 'test/architecture/planted', name), folder, { recursive: true });
    await Promise.all(configurations.map((file) => cp(join(repository, file), join(folder, file))));
    await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'), 'dir');
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What a tool of this repository's node_modules prints when run in `folder`; its exit code says nothing here. */
export function outputOf(tool: string, args: readonly string[], folder: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(repository, 'node_modules', tool), ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: toolTimeoutMs,
    });
    const out: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
    child.on('error', reject);
    child.on('close', (_code, signal) => {
      const printed = Buffer.concat(out).toString('utf8');
      if (signal === null && printed !== '') resolve(printed);
      else reject(new Error(`${tool} ended with ${signal ?? 'nothing printed'}: ${Buffer.concat(errors).toString()}`));
    });
  });
}

export type Reports = Readonly<Record<string, readonly string[]>>;

/** What each file says must be reported about it (`// planted: <rule>` in its first line); clean files are left out. */
export async function plantedIn(folder: string): Promise<Reports> {
  const files = await sourceFiles(folder, ['libs', 'services'], /(^|\/)node_modules\//);
  return byFile(
    files.flatMap(({ path, text }) => {
      const rule = /^\/\/ planted: (\S+)\n/.exec(text)?.[1];
      return rule === undefined ? [] : [{ path, rule }];
    }),
  );
}

/** Reports gathered by file, sorted, each rule once. */
export function byFile(reports: readonly { readonly path: string; readonly rule: string }[]): Reports {
  const rulesByPath = new Map<string, Set<string>>();
  for (const { path, rule } of reports) rulesByPath.set(path, (rulesByPath.get(path) ?? new Set()).add(rule));
  return Object.fromEntries(
    [...rulesByPath].map(([path, rules]) => [path, [...rules].sort()] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
