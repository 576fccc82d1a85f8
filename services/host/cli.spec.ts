import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile, mkdir, symlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiKey, parseApiKey } from '#contracts/api-key';
import { readConfig } from '#runtime/config';
import { silentLogger } from '#runtime/logger';
import { call, type Called } from './cli.kit.js';
import { run } from './main.js';

const environment = { ...process.env };
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-cli-spec-'));
  process.env['DATA_DIR'] = join(folder, 'data');
});
afterEach(async () => {
  process.env = { ...environment };
  await rm(folder, { recursive: true, force: true });
});

describe('the command line', () => {
  it.each([
    ['a command that there is not', ['chek'], 'Did you mean check?'],
    ['no command', [], 'Usage: meerkat'],
    ['a command without its argument', ['check'], 'Name a file, or say --all.'],
    ['an option that there is not', ['check', 'a.json', '--jsn'], 'Did you mean --json?'],
    ['too many arguments', ['check', 'a.json', 'b.json'], 'too many arguments'],
    ['a group without its command', ['keys'], 'create'],
    ['a scope that there is not', ['keys', 'create', '--name', 'ci', '--scopes', 'read,root'], 'read, write, execute'],
    ['a port that is none', ['demo', '--port', '99999'], 'A port is a number'],
    [
      'a time without a zone, which each machine would read as another one',
      ['audit', 'replay', 'ntf_x', '--until', '2026-11-27T08:45:00'],
      "option '--until <time>' argument '2026-11-27T08:45:00' is invalid. It must be a time with its zone",
    ],
    ['a day, which is no time', ['audit', 'export', '--since', '2026-11-27'], '2026-11-01T08:00:00+01:00'],
    ['a day that there is not', ['audit', 'export', '--since', '2026-02-30T08:00:00Z'], "option '--since <time>'"],
  ])('ends with 2 for %s', async (_, words, said) => {
    const { exitCode, out, error } = await call(...words);
    expect(error).toContain(said);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
  });

  it('tells its commands and ends with 0', async () => {
    const { exitCode, out } = await call('--help');
    expect(exitCode).toBe(0);
    for (const name of ['start', 'demo', 'check', 'keys', 'tasks', 'bench']) expect(out).toContain(name);
  });

  it('tells its version, and the Node.js it runs on', async () => {
    const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(text) as { readonly version: string };
    const out = `Meerkat ${version}, on Node.js ${process.versions.node}\n`;
    expect(await call('--version')).toEqual({ exitCode: 0, out, error: '' });
  });

  it('tells all that there is about the audit', async () => {
    const [, told = ''] = / audit {2,}(.*?)\n {2}[a-z]/s.exec((await call('--help')).out) ?? [];
    for (const word of ['written', 'export', 'at a time']) expect(told.replace(/\s+/g, ' ')).toContain(word);
  });

  it('has each command in the table for operators, and no other there', async () => {
    const listed = async (...group: string[]): Promise<readonly string[]> => {
      const [, list = ''] = (await call(...group, '--help')).out.split('Commands:\n');
      const names = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name);
      const found: string[] = [];
      for (const name of names.filter((one) => one !== 'help')) {
        // `bench` is a program of its own, with a help of its own.
        const below = name === 'bench' ? [] : await listed(...group, name);
        found.push(...(below.length === 0 ? [[...group, name].join(' ')] : below));
      }
      return found;
    };
    const guide = await readFile(new URL('../../docs/operators.md', import.meta.url), 'utf8');
    const [, section = ''] = guide.split('\n## The command line\n');
    const told = [...section.matchAll(/^\| `([a-z][a-z-]*(?: [a-z][a-z-]*)*)/gm)].map(([, words = '']) => words);
    expect([...new Set(told)].toSorted()).toEqual((await listed()).toSorted());
  });

  it('ends with 1 for settings that cannot be used, and names the variable', async () => {
    process.env['EVALUATION_CPU_MS'] = 'much';
    const { exitCode, error } = await call('check', join(folder, 'task.json'));
    expect(exitCode).toBe(1);
    expect(error).toContain('EVALUATION_CPU_MS: must be a whole number');
  });
});

describe('the command check', () => {
  let site: Server;
  let address: string;

  beforeEach(async () => {
    site = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end('<!doctype html><title>Shop</title><p class="price">€ 79,90</p>');
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
    process.env['EGRESS_ALLOW'] = '127.0.0.1/32';
  });
  afterEach(async () => {
    site.closeAllConnections();
    site.close();
    await once(site, 'close');
  });

  async function checkText(text: string, ...options: string[]): Promise<Called> {
    const file = join(folder, 'task.json');
    await writeFile(file, text);
    return call('check', file, ...options);
  }
  const check = (fields: object, ...options: string[]): Promise<Called> =>
    checkText(
      JSON.stringify({ name: 'Price', url: address, evaluationFunction: 'return true', ...fields }),
      ...options,
    );

  const evaluationFunction = `const price = page.number(document.querySelector('.price'));
console.log('seen', price);
page.report('price', price);
return price < 50;`;

  it('prints outcome, values, logs and decision, and ends with 0 whatever the outcome', async () => {
    const { exitCode, out, error } = await check({ evaluationFunction });
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^false {2}Price$/m);
    expect(out).toMatch(/value +price = 79\.9$/m);
    expect(out).toMatch(/log +seen 79\.9$/m);
    expect(out).toMatch(/a first run would not notify \(not_true\)$/m);
    expect(error).toBe('');
  });

  it('answers as one JSON document', async () => {
    const { exitCode, out } = await check({ evaluationFunction }, '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      status: 'succeeded',
      outcome: false,
      values: { price: 79.9 },
      logs: [{ level: 'log', message: 'seen 79.9' }],
      page: { finalUrl: address, status: 200 },
      decision: { notify: false, reason: 'not_true' },
    });
  });

  it('says of a contact its name, and that what goes to a contact is not shown', async () => {
    const { exitCode, out, error } = await check({ actions: [{ contact: 'ops' }] });
    expect(exitCode).toBe(0);
    expect(out).toMatch(/a first run would notify \(became_true\): ops$/m);
    expect(error).toContain('what goes to contacts (ops) is not shown here');
  });

  it('names who would be told', async () => {
    const actions = [{ type: 'webhook', config: { url: 'https://hooks.example/in' } }];
    expect((await check({ actions })).out).toMatch(/a first run would notify \(became_true\): webhook$/m);
  });

  it('tries code of a task with e-mail where there is no mail server, and says that saving needs one', async () => {
    const actions = [{ type: 'email', config: { to: 'you@example.com', subject: 'Hello' } }];
    const { exitCode, error } = await check({ actions });
    expect(exitCode).toBe(0);
    expect(error).toContain('SMTP_URL');
  });

  it('shows the line of a syntax error with a caret', async () => {
    const { exitCode, out, error } = await check({ evaluationFunction: 'const a = 1;\nlet 1b = 2;\nreturn true' });
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' });
    expect(error).toContain('(syntax_error)');
    expect(error).toContain('  1 | const a = 1;\n  2 | let 1b = 2;\n    |     ^');
  });

  it('shows the line where code threw, and keeps what it had logged', async () => {
    const { exitCode, out } = await check({
      evaluationFunction: `console.log('here');\nreturn document.querySelector('.gone').textContent === 'x';`,
    });
    expect(exitCode).toBe(1);
    expect(out).toMatch(/^failed {2}Price$/m);
    expect(out).toContain('(threw)');
    expect(out).toContain("  2 | return document.querySelector('.gone')");
    expect(out).toMatch(/log +here$/m);
  });

  it('gives a hint where code returns something else than a boolean', async () => {
    const { exitCode, out } = await check({ evaluationFunction: 'return 79' });
    expect(exitCode).toBe(1);
    expect(out).toContain('(not_boolean)');
    expect(out).toMatch(/^ *Compare it: === 79/m);
  });

  it('says which setting reaches an address that is not public', async () => {
    delete process.env['EGRESS_ALLOW'];
    const { exitCode, error } = await check({});
    expect(exitCode).toBe(1);
    expect(error).toContain('(address_denied)');
    expect(error).toContain('EGRESS_ALLOW');
  });

  it('says which address of several is refused', async () => {
    delete process.env['EGRESS_ALLOW'];
    const receiver = { type: 'webhook', config: { url: 'http://127.0.0.1:8080/' } };
    const { error } = await check({ url: 'https://example.com/', actions: [receiver] });
    expect(error).toContain('(address_denied)\n  in actions[0].config.url\n');
  });

  it('ends with 1 where the page does not load', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    const { exitCode, out } = await check({ url: `http://127.0.0.1:${port}/`, fetch: { retry: { attempts: 1 } } });
    expect(exitCode).toBe(1);
    expect(out).toContain('(connect_failed)');
  });

  it('names each field that is wrong, as POST /api/notifications does', async () => {
    const { exitCode, error } = await check({
      name: '',
      schedule: { type: 'interval', intervalSeconds: 'x' },
      extra: 1,
    });
    expect(exitCode).toBe(1);
    for (const field of ['name', 'schedule.intervalSeconds', 'extra']) expect(error).toContain(field);
  });

  it('answers a refusal as JSON where JSON is asked for', async () => {
    const { exitCode, out } = await check({ extra: 1 }, '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ error: { reason: 'unknown_field', details: [{ field: 'extra' }] } });
  });

  it.each([
    ['text that is not JSON', '{\n  "name": "x",\n}', '  3 | }\n    | ^'],
    ['an empty file', '', 'is empty'],
    ['a list', '[]', 'must be an object'],
    ['a name given twice', '{"name":"a","name":"b"}', 'given twice'],
    ['a file larger than 1 MiB', ' '.repeat(1_048_577), 'larger than 1 MiB'],
  ])('refuses %s', async (_, text, said) => {
    const { exitCode, error } = await checkText(text);
    expect(error).toContain(said);
    expect(exitCode).toBe(1);
  });

  it('takes YAML, and the code from a file beside it, whose faults it shows', async () => {
    const file = join(folder, 'task.yaml');
    await writeFile(file, `name: Price\nurl: ${address}\ncode: ./price.js\n`);
    await writeFile(join(folder, 'price.js'), evaluationFunction);
    const { exitCode, out } = await call('check', file);
    expect([exitCode, out]).toEqual([0, expect.stringMatching(/value +price = 79\.9$/m)]);
    await writeFile(join(folder, 'price.js'), 'const a = 1;\nreturn (;');
    const broken = await call('check', file);
    expect([broken.exitCode, broken.error]).toEqual([1, expect.stringContaining('2 | return (;')]);
    await rm(join(folder, 'price.js'));
    expect((await call('check', file)).error).toContain('price.js cannot be read');
    await writeFile(file, 'name: *a\n');
    expect((await call('check', file)).error).toContain('Anchors and aliases');
  });

  it('takes no code from elsewhere, from a device or twice', async () => {
    const [file, apart] = [join(folder, 'task.yaml'), join(folder, 'apart')];
    await mkdir(apart, { recursive: true });
    await writeFile(join(folder, 'secret.js'), 'top: secret');
    await symlink(join(folder, 'secret.js'), join(apart, 'link.js'));
    await symlink('/dev/zero', join(folder, 'zero.js'));
    const said = async (path: string, ...lines: readonly string[]): Promise<string> => {
      await writeFile(path, `name: Price\nurl: ${address}\n${lines.join('\n')}\n`);
      const { exitCode, error } = await call('check', path);
      return `${exitCode} ${error}`;
    };
    for (const code of ['../secret.js', join(folder, 'secret.js'), './link.js', '/etc/passwd', './..']) {
      const refusal = await said(join(apart, 'task.yaml'), `code: ${code}`);
      expect(refusal).toMatch(/^1 code: .* must name a file beside .* or in a folder below it\.\n$/);
    }
    expect(await said(file, 'code: ./zero.js')).toMatch(/^1 code: .* must name a file beside /);
    expect(await said(file, 'code: ./apart')).toContain('it is a folder');
    expect(await said(file, 'code: ./none.js')).toContain('none.js cannot be read: there is no such file.');
    expect(await said(file, 'code: ./secret.js', "evaluationFunction: 'true'")).toContain('keep one of them');
    expect(await said(file, 'code: 5')).toContain('code must name a file such as ./kettle.js.');
  });

  it('refuses a file that is not there', async () => {
    const { exitCode, error } = await call('check', join(folder, 'none.json'));
    expect(exitCode).toBe(1);
    expect(error).toContain('cannot be read');
  });

  it('moves no cursor with names, values and logs of others', async () => {
    const { out } = await check({
      name: 'a\u001b[2Jb',
      evaluationFunction: `console.log('\\u001b[31mred\\u202e'); page.report('x', '\\u001b]0;t\\u0007'); return true`,
    });
    expect(out).not.toMatch(/[\u001b\u0007\u202e]/);
  });
});

describe('a command on an installation:', () => {
  const ownerKey = createApiKey((size) => Buffer.alloc(size, 5));
  const serve = () =>
    run(
      readConfig({
        DATA_DIR: process.env['DATA_DIR'],
        PORT: '0',
        OWNER_EMAIL: 'owner@example.com',
        OWNER_PASSWORD: 'correct horse battery',
        OWNER_API_KEY: ownerKey,
      }),
      silentLogger,
    );

  it('keys create has a server that runs make the key, says what that takes, and makes it itself after it stopped', async () => {
    let running = await serve();
    try {
      const refused = await call('keys', 'create', '--name', 'ci', '--scopes', 'read');
      expect(refused).toMatchObject({ exitCode: 1, out: '' });
      expect(refused.error).toContain('A server runs on this DATA_DIR');
      expect(refused.error).toContain('MEERKAT_API_KEY');
      process.env['MEERKAT_URL'] = String(running.url);
      process.env['MEERKAT_API_KEY'] = ownerKey;
      const asked = await call('keys', 'create', '--name', 'asked', '--scopes', 'read', '--json');
      expect(JSON.parse(asked.out)).toMatchObject({
        name: 'asked',
        scopes: ['read'],
        key: expect.stringMatching(/^mk_/),
      });
      process.env['MEERKAT_API_KEY'] = (JSON.parse(asked.out) as { readonly key: string }).key;
      const forbidden = await call('keys', 'create', '--name', 'more', '--scopes', 'admin');
      expect(forbidden).toMatchObject({ exitCode: 1, out: '' });
      expect(forbidden.error).toContain('admin');
      expect(forbidden.error).not.toContain('mk_');
    } finally {
      await running.stop();
    }
    const made = await call('keys', 'create', '--name', 'ci', '--scopes', 'read, execute', '--json');
    expect(made.exitCode).toBe(0);
    const created = JSON.parse(made.out) as { readonly key: string };
    expect(created).toMatchObject({ name: 'ci', scopes: ['read', 'execute'] });
    const plain = await call('keys', 'create', '--name', 'script', '--scopes', 'write');
    expect(plain.error).toMatch(/may write\. The key can be seen again by an owner alone, with their password:\n$/);
    process.env['KEYS_SHOW_ONCE'] = 'true';
    const shownOnce = await call('keys', 'create', '--name', 'once', '--scopes', 'read');
    expect(shownOnce.error).toMatch(/may read\. The key is shown this once:\n$/);
    delete process.env['KEYS_SHOW_ONCE'];
    expect(parseApiKey(plain.out.trim())).not.toBeNull();
    running = await serve();
    try {
      process.env['MEERKAT_URL'] = String(running.url);
      process.env['MEERKAT_API_KEY'] = created.key;
      expect(await call('tasks', '--json')).toMatchObject({ exitCode: 0, out: '[]\n' });
      await fetch(new URL('/api/notifications', String(running.url)), {
        method: 'POST',
        headers: { authorization: `Bearer ${plain.out.trim()}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          name: 'An offer',
          url: 'https://shop.example/',
          evaluationFunction: 'return true',
          status: 'paused',
        }),
      });
      const listed = await call('tasks');
      expect(listed.exitCode).toBe(0);
      expect(listed.out).toMatch(/^ntf_\w+ +paused +unknown +ok .* An offer +https:\/\/shop\.example\/$/m);
      process.env['MEERKAT_API_KEY'] = `${created.key.slice(0, -1)}_`;
      expect(await call('tasks')).toMatchObject({ exitCode: 1, out: '' });
    } finally {
      await running.stop();
    }
  });

  it('keys create founds no installation where there is none', async () => {
    const { exitCode, error } = await call('keys', 'create', '--name', 'ci', '--scopes', 'read');
    expect(exitCode).toBe(1);
    expect(error).toContain('There is no instance');
  });

  it('tasks asks where the settings say that a server listens, where MEERKAT_URL is not set', async () => {
    process.env['MEERKAT_API_KEY'] = ownerKey;
    process.env['PORT'] = '9';
    expect((await call('tasks')).error).toContain('http://127.0.0.1:9 does not answer');
  });

  it('tasks names what it needs, and a server that does not answer', async () => {
    expect((await call('tasks')).error).toContain('MEERKAT_API_KEY');
    process.env['MEERKAT_API_KEY'] = ownerKey;
    process.env['MEERKAT_URL'] = 'http://127.0.0.1:9';
    const { exitCode, error } = await call('tasks');
    expect(exitCode).toBe(1);
    expect(error).toContain('does not answer: set MEERKAT_URL to where');
  });
});
