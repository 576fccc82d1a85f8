// `npm run test:clients`: lints the OpenAPI document, makes clients of it in three languages and uses them on a product of
// its own. The last line printed is `N passed, N failed`; each step counts as one.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isOnOwnNode, root } from './launch.mjs';
import { judge, print, run } from './specs.mjs';

const home = join(root, 'test', 'clients');
const generated = join(home, 'generated');
const python = join(home, 'venv', 'bin', 'python');
const goTool = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const apiKey = 'mk_Ab3dEf9h_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd3qYUag';
const readyWithinMs = 60_000;

/** A page that the tasks of the clients watch. */
async function servePage() {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<title>Shop</title><h1>Kettles</h1>');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

/** The product on a folder that is gone afterwards. */
async function startProduct(folder) {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['bin/meerkat.mjs', 'start'], {
    cwd: root,
    env: {
      PATH,
      HOME,
      PORT: '0',
      DATA_DIR: folder,
      OWNER_EMAIL: 'owner@example.com',
      OWNER_PASSWORD: 'correct horse battery staple',
      OWNER_API_KEY: apiKey,
      EGRESS_ALLOW: '127.0.0.0/8',
      SMTP_URL: 'smtp://127.0.0.1:1',
      ANONYMOUS_PER_MINUTE: '1000000',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the product did not become ready:\n${output}`)), readyWithinMs);
    const read = (chunk) => {
      output += chunk;
      const found = / is ready at (http:\S+)/.exec(output)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    child.once('exit', (code) => reject(new Error(`the product ended with ${code}:\n${output}`)));
  });
  return {
    url,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', resolve);
        child.kill('SIGTERM');
      }),
  };
}

const tool = (name) => join(home, 'node_modules', '.bin', name);
const inHome = (script) => ['-c', `cd "$0" && ${script}`, home];
const isThere = async (program, ...args) => (await run(program, args, { capture: true })).ok;

/** The steps of each language, in order; languages wait for nothing of each other, nor do the steps of a list within. */
function lanesOf({ url, tried, page, document, hasPython, hasGo }) {
  const use = [url, apiKey, page];
  const typeScript = [
    { name: 'the tools are installed', program: 'npm', args: ['ci', '--no-audit', '--no-fund', '--prefix', home] },
    {
      name: 'redocly finds nothing to warn of',
      program: tool('redocly'),
      args: ['lint', '--format=stylish', document],
      refuses: /\bwarning\b/i,
    },
    {
      name: 'openapi-typescript makes types',
      program: tool('openapi-typescript'),
      // What has a default may be left out of a request.
      args: [document, '--default-non-nullable', 'false', '-o', join(generated, 'api.d.ts')],
    },
    { name: 'the TypeScript client compiles', program: tool('tsc'), args: ['--project', home] },
    {
      name: 'the TypeScript client makes a task and runs it',
      program: process.execPath,
      args: [join(generated, 'built', 'use.js'), ...use],
    },
  ];
  const lanes = [typeScript];
  if (hasPython) {
    const venv = join(home, 'venv');
    const schemathesis = (finds, config, only = []) => ({
      name: `schemathesis ${finds}`,
      program: join(venv, 'bin', 'schemathesis'),
      args: [
        `--config-file=${join(home, config)}`,
        'run',
        `${tried}/api/openapi.json`,
        '--checks=all',
        '--exclude-checks=positive_data_acceptance',
        '--max-examples=50',
        '--seed=1',
        '--no-color',
        `--header=Authorization: Bearer ${apiKey}`,
        ...only,
      ],
      env: { PYTHONWARNINGS: 'ignore' },
    });
    lanes.push([
      {
        name: 'the Python tools are installed',
        program: 'sh',
        args: inHome(`python3 -m venv "${venv}" && venv/bin/pip install --quiet -r requirements.txt`),
      },
      {
        name: 'openapi-python-client makes all of it',
        program: join(venv, 'bin', 'openapi-python-client'),
        args: ['generate', '--path', document, '--output-path', join(generated, 'python'), '--overwrite'],
        refuses: /Unable to|removal of|Failed to/,
      },
      {
        name: 'the Python client makes a task and runs it',
        program: python,
        args: [join(home, 'use.py'), ...use],
        env: { PYTHONPATH: join(generated, 'python') },
      },
      [
        schemathesis('finds no answer that the document does not allow', 'schemathesis.toml'),
        // Half of what it tries systematically is tried on tasks: beside the rest it takes half as long.
        schemathesis('finds none where each field of a task takes each value', 'tasks.toml', [
          '--include-path-regex=^/api/notifications',
          '--phases=coverage',
        ]),
        // Looking at it is waiting, of which the other has no need.
        schemathesis('finds none in the stream that never ends', 'stream.toml', [
          '--include-path=/api/stream',
          '--phases=examples,coverage,fuzzing',
        ]),
      ],
    ]);
  }
  if (hasGo) {
    const client = join(home, 'go', 'client.gen.go');
    const make = `go run ${goTool} -generate types,client -package meerkat -o "${client}" "${document}"`;
    lanes.push([
      {
        name: 'oapi-codegen makes a Go client that compiles',
        program: 'sh',
        args: inHome(`${make} && cd go && go vet ./...`),
      },
    ]);
  }
  return lanes;
}

async function runStep({ name, program, args, env, refuses }, failures) {
  const { ok, note, output, took } = await run(program, args, { capture: true, env });
  const isRefused = refuses?.test(output) === true;
  const isGood = ok && !isRefused;
  print(`${isGood ? 'ok    ' : 'FAILED'} ${name} (${took}${isGood ? '' : `, ${isRefused ? 'it warns' : note}`})`);
  if (isGood) return { passed: 1, failed: 0 };
  print(output.trimEnd().slice(-8_000));
  failures.push(name);
  return { passed: 0, failed: 1 };
}

async function main() {
  await judge(async ({ folder, failures }) => {
    await rm(generated, { recursive: true, force: true });
    await mkdir(generated, { recursive: true });
    const parts = [
      await runStep({ name: 'build', program: process.execPath, args: ['scripts/build.mjs', '--if-stale'] }, failures),
    ];
    const hasPython = await isThere('python3', '-c', 'import ensurepip, sys; assert sys.version_info >= (3, 11)');
    const hasGo = await isThere('go', 'version');
    if (!hasPython)
      print('left out: Python 3.11 with venv is not on this machine, so no Python client and no schemathesis');
    if (!hasGo) print('left out: Go is not on this machine, so no Go client');
    const page = await servePage();
    const products = [];
    try {
      // What is tried by chance changes and removes anything, so that clients have another.
      for (const name of ['used', 'tried']) products.push(await startProduct(join(folder, name)));
      const [url, tried] = products.map((product) => product.url);
      const document = join(generated, 'openapi.json');
      // It is made at the first request, which may take longer than the tool that asks for it later waits.
      await writeFile(document, await (await fetch(`${tried}/api/openapi.json`)).text());
      const lanes = lanesOf({ url, tried, page: page.url, document, hasPython, hasGo });
      await Promise.all(
        lanes.map(async (steps) => {
          for (const step of steps) {
            parts.push(...(await Promise.all([step].flat().map((one) => runStep(one, failures)))));
          }
        }),
      );
    } finally {
      await Promise.all(products.map((product) => product.stop()));
      page.close();
    }
    return parts;
  });
}

if (await isOnOwnNode(import.meta.url)) await main();
