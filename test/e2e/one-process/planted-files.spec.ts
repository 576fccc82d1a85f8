/** Links, pipes, devices and folders in DATA_DIR that somebody put there while it was open, under names of the product's files. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { meerkat } from '../kit/command.js';
import { commonSettings, scratchFolder } from '../kit/installation.js';
import { startProduct, type Ending, type Product } from '../kit/product.js';
import { refusedStart } from '../kit/refused-start.js';

const words = 'a file of somebody else\n';

let folder: string;
let dataDir: string;
let outside: string;
beforeEach(async () => {
  folder = await scratchFolder();
  dataDir = join(folder, 'data');
  outside = join(folder, 'outside');
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(outside, words);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const plants = {
  'a link to a file elsewhere': (path: string) => symlinkSync(outside, path),
  'a link to nothing yet': (path: string) => symlinkSync(join(folder, 'new'), path),
  'a link to a device that never ends': (path: string) => symlinkSync('/dev/zero', path),
  'a pipe that nobody writes to': (path: string) => void execFileSync('mkfifo', [path]),
  'a folder': (path: string) => mkdirSync(path),
} as const;

const names = ['unclean', 'verified', 'events.db', 'events.db-wal', 'bus.db', 'views.db', 'snapshots.db'];
const all = Object.keys(plants) as (keyof typeof plants)[];
/** Each name with one kind, each kind with one name, and the key with all. */
const cases = [
  ...names.map((name, index) => [name, all[index % all.length]] as const),
  ...all.map((kind) => ['secret.key', kind] as const),
];

describe('a start on a data folder', () => {
  it.each(cases)('where %s is %s is refused with its name, and nothing is written through it', async (name, kind) => {
    plants[kind ?? 'a folder'](join(dataDir, name));
    const { code, said } = await refusedStart({ ...commonSettings({}), DATA_DIR: dataDir }, folder);
    expect(code).toBe(78);
    expect(said).toContain(`DATA_DIR: ${join(dataDir, name)} is a link, a folder or a device`);
    expect(readFileSync(outside, 'utf8')).toBe(words);
    expect(() => readFileSync(join(folder, 'new'))).toThrow('ENOENT');
  });

  it('that is reached by a link itself is the same folder, for one process at a time', async () => {
    const link = join(folder, 'link');
    symlinkSync(dataDir, link);
    const product = startProduct({ ...commonSettings({}), DATA_DIR: link, PORT: '0', LOG_FORMAT: 'json' }, folder);
    try {
      await product.ready();
      const { code, said } = await refusedStart({ ...commonSettings({}), DATA_DIR: dataDir }, folder);
      expect([code, said]).toEqual([78, expect.stringMatching(/DATA_DIR: .* in use/)]);
      // The other one is at work, and did not crash.
      expect(said).not.toContain('did not end in order');
    } finally {
      product.signal('SIGKILL');
      await product.ended;
    }
  });

  it.each([1, 2, 3])('that is new, by three processes at once, succeeds for one of them (try %d)', async () => {
    const settings = { ...commonSettings({}), DATA_DIR: dataDir, PORT: '0', LOG_FORMAT: 'json' };
    const products = [1, 2, 3].map(() => startProduct(settings, folder));
    try {
      const outcomes = await Promise.all(products.map(outcomeOf));
      expect(outcomes.filter((outcome) => outcome === 'ready')).toHaveLength(1);
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome === 'ready') continue;
        expect(outcome.code).toBe(78);
        expect(products[index]?.lines.join('\n')).toMatch(/DATA_DIR: .* in use by another Meerkat/);
      }
    } finally {
      for (const product of products) product.signal('SIGKILL');
      await Promise.all(products.map(({ ended }) => ended));
    }
  });
});

async function outcomeOf(product: Product): Promise<'ready' | Ending> {
  return product.ready().then(
    () => 'ready' as const,
    () => product.ended,
  );
}

it('a command on a data folder whose key is a link to a device ends with its name', async () => {
  writeFileSync(join(dataDir, 'events.db'), '');
  symlinkSync('/dev/zero', join(dataDir, 'secret.key'));
  const { exitCode, error } = await meerkat(['audit', 'verify'], { ...commonSettings({}), DATA_DIR: dataDir }, folder);
  expect(exitCode).not.toBe(0);
  expect(error).toContain('secret.key');
});
