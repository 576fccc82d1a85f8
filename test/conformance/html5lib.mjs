// `node test/conformance/html5lib.mjs <folder> [--failures]`: the tree-construction tests of html5lib by both page parsers,
// through the flat tables that the sandbox gets. Prints a table for docs/conformance.md; with --failures each test that
// differs. The folder is that of the `*.dat` files; the tests are no part of this repository.
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readTests } from './dat.mjs';
import { loadParsers, loadReaders } from './parsers.mjs';

const usage = 'Usage: node test/conformance/html5lib.mjs <folder of *.dat files> [--failures]\n';

async function readFolder(folder) {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.dat')).sort();
  const tests = await Promise.all(
    names.map(async (name) => readTests(name.replace(/\.dat$/, ''), await readFile(join(folder, name), 'utf8'))),
  );
  return tests.flat();
}

/** How the product can be asked to run a test: with scripting on and off; fragments are always read with it on. */
function runsOf({ context, scripting }) {
  if (context !== null) return scripting === false ? [] : [true];
  return scripting === null ? [true, false] : [scripting];
}

function runOne(readers, parser, test, isScripting) {
  const { data, context } = test;
  const tree = context === null ? readers.document(parser, data, isScripting) : readers.fragment(parser, data, context);
  return { tree, isSame: tree.trimEnd() === test.document.trimEnd() };
}

function tell(name, { file, data, context, document }, isScripting, tree) {
  const inside = context === null ? '' : `, inside ${context.namespace} ${context.tag}`;
  return `${name}: ${file}, scripting ${isScripting ? 'on' : 'off'}${inside}\n${data}\n--- wanted\n${document}\n--- got\n${tree}\n\n`;
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { failures: { type: 'boolean', default: false } },
  });
  if (positionals.length !== 1) {
    process.stderr.write(usage);
    return 2;
  }
  const tests = await readFolder(resolve(positionals[0]));
  if (tests.length === 0) throw new Error(`${positionals[0]} holds no *.dat files`);
  const parsers = await loadParsers();
  const readers = await loadReaders();
  const files = new Map();
  let left = 0;
  for (const test of tests) {
    const runs = runsOf(test);
    if (runs.length === 0) left += 1;
    for (const isScripting of runs) {
      const row = files.get(test.file) ?? { runs: 0, parse5: 0, lexbor: 0 };
      files.set(test.file, row);
      row.runs += 1;
      for (const [name, parser] of Object.entries(parsers)) {
        const { tree, isSame } = runOne(readers, parser, test, isScripting);
        row[name] += isSame ? 1 : 0;
        if (!isSame && values.failures) process.stderr.write(tell(name, test, isScripting, tree));
      }
    }
  }
  const total = { runs: 0, parse5: 0, lexbor: 0 };
  const lines = ['| file | runs | parse5 | lexbor |', '| --- | --- | --- | --- |'];
  for (const [file, row] of files) {
    for (const column of Object.keys(total)) total[column] += row[column];
    if (row.parse5 < row.runs || row.lexbor < row.runs)
      lines.push(`| ${file} | ${row.runs} | ${row.parse5} | ${row.lexbor} |`);
  }
  lines.push(`| all ${files.size} files | ${total.runs} | ${total.parse5} | ${total.lexbor} |`);
  process.stdout.write(
    `${lines.join('\n')}\n\n${tests.length} tests, ${left} of them left out: fragments without scripting.\n`,
  );
  return 0;
}

process.exitCode = await main();
