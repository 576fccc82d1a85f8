// `npm test`: the gate, then every spec that needs no servers. A step that fails does not stop the others; the last line
// printed is `N passed, N failed`, where each step of the gate counts as one beside the tests. What follows `--` goes to Jest.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isOnOwnNode, root } from './launch.mjs';
import { ignoring, judge, neverSpecs, print, run, runJest } from './specs.mjs';

/**
 * Scripts of package.json: the build first, since it makes the types of the API that the console is checked with; then two
 * at a time in this order. The linter checks types in the same go, since it holds them already.
 */
const gate = ['build', 'format:check', 'lint', 'boundaries', 'unused'];

/** Two steps at once, told in their order as soon as they and all before them have ended. */
async function runGate(failures) {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const waiting = [];
  const results = new Map();
  let told = 0;
  const tell = () => {
    for (let name = gate[told]; name !== undefined && results.has(name); told += 1, name = gate[told]) {
      const { ok, note, output, took } = results.get(name);
      print(`${ok ? 'ok    ' : 'FAILED'} ${name} (${took}${ok ? '' : `, ${note}`})`);
      if (!ok) {
        print(output.trimEnd().replace(/^/gm, '       '));
        failures.push(name);
      }
    }
  };
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      results.set(name, await run('/bin/sh', ['-c', scripts[name]], { capture: true }));
      tell();
    }
  };
  const [first, ...others] = gate;
  waiting.push(first);
  await lane();
  waiting.push(...others);
  await Promise.all([lane(), lane()]);
  return { passed: gate.length - failures.length, failed: failures.length };
}

async function main(jestArgs) {
  await judge(async ({ folder, failures }) => {
    const parts = [await runGate(failures)];
    // Specs that need servers, a browser, or the parser that is built apart, have a run of their own.
    const never = [...neverSpecs, '\\.(int|lexbor|browser)\\.spec\\.ts$'];
    const options = { folder, failures };
    const specs = await runJest(
      'Unit, contract and architecture specs',
      [...ignoring([...never, '/test/e2e/']), '--maxWorkers=3', ...jestArgs],
      options,
    );
    // Each starts the built product on ports and in folders of its own, and waits for most of its time.
    const endToEnd = await runJest(
      'End-to-end specs',
      [...ignoring([...never, '^(?!.*/test/e2e/)']), '--maxWorkers=5', ...jestArgs],
      options,
    );
    parts.push(specs, endToEnd);
    if (specs.suites + endToEnd.suites === 0) {
      failures.push('no spec was found');
      parts.push({ passed: 0, failed: 1 });
    }
    return parts;
  });
}

if (await isOnOwnNode(import.meta.url)) await main(process.argv.slice(2));
