/**
 * What the image and the compose file declare, tried without containers: the product and its evaluators as the users of the
 * compose file, the folders as the Dockerfile makes them. Root is needed to become others.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '../e2e/kit/api.js';
import { commonSettings, ownerApiKey } from '../e2e/kit/installation.js';
import { html, startPageSite, type PageSite } from '../e2e/kit/page-site.js';
import { byHand } from '../e2e/kit/settings.js';
import { until } from '../e2e/kit/until.js';
import { readCompose } from './compose.js';
import '../e2e/kit/built.js';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const readText = (path: string): string => readFileSync(join(repository, path), 'utf8');
const compose = readCompose(readText('docker-compose.yml'));
const dockerfile = readText('deploy/docker/Dockerfile');

interface Identity {
  readonly uid: number;
  readonly gid: number;
}
function identityOf(user: string | undefined): Identity {
  const [uid = 0, gid = 0] = (user ?? '').split(':').map(Number);
  return { uid, gid };
}
const product = identityOf(compose.services['gateway-1']?.user);
const evaluator = identityOf(compose.services['evaluators-1']?.user);

/** As the Dockerfile makes it: owner, group and mode. */
function makeFolder(path: string, declaredAs: string): void {
  const [, owner = '', group = '', mode = ''] =
    new RegExp(String.raw`--owner=(\d+) --group=(\d+) --mode=(\d+) ${declaredAs}\b`).exec(dockerfile) ?? [];
  mkdirSync(path);
  chownSync(path, Number(owner), Number(group));
  chmodSync(path, Number.parseInt(mode, 8));
}

/** Other users get to it, as they do in the image. */
function isOpenToOthers(path: string): boolean {
  return (statSync(path).mode & 0o005) === 0o005 && (dirname(path) === path || isOpenToOthers(dirname(path)));
}
const canBecomeThem = process.getuid?.() === 0 && isOpenToOthers(join(repository, 'dist')) && isOpenToOthers(tmpdir());
const trial = canBecomeThem ? describe : describe.skip;
const notTried = canBecomeThem ? '' : ' (not tried: it takes root, and folders that others may enter)';

trial(`the users that the compose file declares${notTried}`, () => {
  let folder: string;
  let dataDir: string;
  let sockets: string;
  let site: PageSite;
  let url: string;
  const children: ChildProcess[] = [];
  const lines: string[] = [];

  function start(words: readonly string[], who: Identity, env: Readonly<Record<string, string>>): void {
    const { PATH = '' } = process.env;
    const child = spawn(process.execPath, ['--disable-sigusr1', ...words], {
      cwd: '/',
      env: { PATH, HOME: '/', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...who,
    });
    children.push(child);
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => lines.push(String(chunk)));
  }

  /** What a program of our own does as that user; the error's code where it may not. */
  async function deed(who: Identity, program: string): Promise<string> {
    const code = `const fs = require('node:fs'); try { ${program}; console.log('done'); } catch (error) { console.log(error.code); }`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', code], { cwd: '/', env: {}, ...who });
    return stdout.trim();
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'meerkat-users-'));
    chmodSync(folder, 0o755);
    [dataDir, sockets] = [join(folder, 'data'), join(folder, 'evaluators')];
    makeFolder(dataDir, '/data');
    makeFolder(sockets, '/run/evaluators');
    site = await startPageSite();
    site.serve('/shop', html('in stock'));
    start([join(repository, 'bin', 'meerkat.mjs'), 'evaluators'], evaluator, { EVALUATOR_SOCKETS: sockets });
    await until('evaluators are there', () => lines.join('').includes('Evaluators are ready'));
    start([join(repository, 'scripts', 'start.mjs')], product, {
      ...commonSettings({}),
      DATA_DIR: dataDir,
      EVALUATOR_SOCKETS: sockets,
      PORT: '0',
    });
    url = await until('it is ready', () => / is ready at (http:\S+)/.exec(lines.join(''))?.[1] ?? null);
  });
  afterAll(async () => {
    const ended = children.map((child) => new Promise((resolve) => child.once('close', resolve)));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(ended);
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('run a task together', async () => {
    const api = createApi(() => url, ownerApiKey);
    const { id } = await api.create(byHand(site.address('/shop')));
    expect((await api.execute(id)).outcome).toBe(true);
  });

  it('leave the evaluators without a look at keys and data', async () => {
    accessSync(join(dataDir, 'secret.key'), constants.R_OK);
    const path = JSON.stringify(dataDir);
    expect(await deed(evaluator, `fs.readdirSync(${path})`)).toBe('EACCES');
    expect(await deed(evaluator, `fs.readFileSync(${path} + '/secret.key')`)).toBe('EACCES');
    expect(await deed(evaluator, `fs.writeFileSync(${path} + '/planted', '')`)).toBe('EACCES');
    const [, running] = children;
    expect(await deed(evaluator, `fs.readFileSync('/proc/${running?.pid}/environ')`)).toBe('EACCES');
    expect(await deed(evaluator, `process.kill(${running?.pid}, 0)`)).toBe('EPERM');
    // The same, to who may: it is not the deed that is wrong.
    expect(await deed(product, `fs.readFileSync(${path} + '/secret.key')`)).toBe('done');
  });

  it('cannot change the program', async () => {
    for (const who of [product, evaluator]) {
      for (const path of ['dist/product.js', 'bin/meerkat.mjs', 'package.json']) {
        expect(await deed(who, `fs.appendFileSync(${JSON.stringify(join(repository, path))}, '')`)).toBe('EACCES');
      }
    }
  });
});
