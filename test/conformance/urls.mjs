// `node test/conformance/urls.mjs <folder> [--failures]`: the WHATWG URL test data (urltestdata.json, setters_tests.json of
// web-platform-tests' url/resources) by the sandbox's `URL`. Prints a line for each file, with --failures each case that
// differs. The tests are no part of this repository. Needs `npm run build`.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const usage = 'Usage: node test/conformance/urls.mjs <folder of urltestdata.json> [--failures]\n';
const casesAtOnce = 200;
const limits = { cpuMs: 20_000, memoryMb: 256, outputBytes: 32 * 1024 ** 2, stateBytes: 32 * 1024 ** 2 };
const members = 'href origin protocol username password host hostname port pathname search hash'.split(' ');

/** Runs inside the sandbox for each case; `failure` where it threw. */
const parsing = `({ input, base }) => {
  const url = new URL(input, base ?? undefined);
  return Object.fromEntries(${JSON.stringify(members)}.map((name) => [name, url[name]]));
}`;
const setting = `({ href, name, new_value, expected }) => {
  const url = new URL(href);
  url[name] = new_value;
  return Object.fromEntries(Object.keys(expected).map((name) => [name, url[name]]));
}`;

async function answersOf(sandbox, work, cases) {
  const code = `const work = ${work};
    page.report('value', page.state.cases.map((each) => { try { return work(each); } catch (error) { return { failure: String(error) }; } })); true`;
  const page = {
    url: 'https://x.example/',
    finalUrl: 'https://x.example/',
    status: 200,
    headers: {},
    contentKind: 'text',
    body: new Uint8Array(),
  };
  const answers = [];
  for (let at = 0; at < cases.length; at += casesAtOnce) {
    const state = { cases: cases.slice(at, at + casesAtOnce) };
    const result = await sandbox.evaluate({
      code,
      form: 'script',
      page,
      previous: null,
      state,
      seed: 'urls',
      nowMs: 0,
      limits,
    });
    if (!result.ok) throw new Error(result.failure.message);
    answers.push(...result.values.value);
  }
  return answers;
}

function differences(wanted, answer) {
  if (wanted.failure === true) return answer.failure === undefined ? ['is no address'] : [];
  if (answer.failure !== undefined) return [answer.failure];
  return Object.keys(answer)
    .filter((name) => wanted[name] !== undefined && wanted[name] !== answer[name])
    .map((name) => `${name} is ${JSON.stringify(answer[name])}, not ${JSON.stringify(wanted[name])}`);
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { failures: { type: 'boolean', default: false } },
  });
  const [folder] = positionals;
  if (folder === undefined) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  const read = async (name) => JSON.parse(await readFile(join(resolve(folder), name), 'utf8'));
  const parsed = (await read('urltestdata.json')).filter((each) => typeof each === 'object');
  const set = Object.entries(await read('setters_tests.json')).flatMap(([name, list]) =>
    name === 'comment' ? [] : list.map((each) => ({ ...each, name })),
  );
  const { createQuickJsSandbox } = await import(new URL('../../dist/libs/sandbox/quickjs.js', import.meta.url));
  const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
  try {
    for (const [file, work, cases, wantedOf] of [
      ['urltestdata.json', parsing, parsed, (each) => each],
      ['setters_tests.json', setting, set, (each) => each.expected],
    ]) {
      const answers = await answersOf(sandbox, work, cases);
      const failed = cases.flatMap((each, at) => {
        const differing = differences(wantedOf(each), answers[at]);
        return differing.length === 0 ? [] : [`  ${JSON.stringify(each)}\n    ${differing.join('\n    ')}\n`];
      });
      process.stdout.write(`${file}: ${cases.length - failed.length} of ${cases.length}\n`);
      if (values.failures) process.stdout.write(failed.join(''));
    }
  } finally {
    await sandbox.close();
  }
}

await main();
