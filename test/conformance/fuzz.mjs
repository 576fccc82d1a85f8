// `node test/conformance/fuzz.mjs [--seed N] [--count N]`: soups of tags by both page parsers. Every difference must be of
// a kind that docs/conformance.md explains: it is gone once what belongs to the kind is taken out of the soup. Counts
// them by kind; ends with 1 where one is of none, and shows the shortest soup that still differs.
import { parseArgs } from 'node:util';
import { loadParsers, loadReaders } from './parsers.mjs';
import { createSoups, shorten } from './soups.mjs';

const kinds = {
  'content of select': (soup) => soup.replace(/<\/?select\b[^<>]*>/gi, ''),
  'CDATA in integration points': (soup) => soup.replaceAll('<![CDATA[x]]>', ''),
  'ends of sections in rows': (soup) => soup.replace(/<\/(?:tbody|thead|tfoot)\b[^<>]*>/gi, ''),
  'tables in templates': (soup) => soup.replace(/<\/?template\b[^<>]*>/gi, ''),
  'forms in templates': (soup) => soup.replace(/<\/?form\b[^<>]*>/gi, ''),
  'white space after col': (soup) => soup.replace(/<\/?col\b[^<>]*>/gi, ''),
  'white space after a frameset': (soup) => soup.replace(/<\/?frameset\b[^<>]*>/gi, ''),
  'NULs in foreign elements': (soup) => soup.replaceAll('\0', ''),
};

function readArguments() {
  const { values } = parseArgs({
    options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '10000' } },
  });
  const [seed, count] = [Number(values.seed), Number(values.count)];
  if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(count)) throw new Error('--seed and --count take numbers');
  return { seed, count };
}

const withoutAll = (soup) => Object.values(kinds).reduce((text, without) => without(text), soup);

/** The kind that explains a difference, `several kinds` where it takes more than one, null where none does. */
function kindOf(soup, differs) {
  for (const [name, without] of Object.entries(kinds)) if (!differs(without(soup))) return name;
  return differs(withoutAll(soup)) ? null : 'several kinds';
}

/** Whether the parsers differ on a soup as a page, as a document that code makes, or as what stands in an element. */
function comparisonOf(number, { parse5, lexbor }, readers) {
  const contexts = ['div', 'tr', 'template'];
  const context = { tag: contexts[number % contexts.length], namespace: 'html' };
  const readings = [
    (parser, text) => readers.document(parser, text, true),
    (parser, text) => readers.document(parser, text, false),
    (parser, text) => readers.fragment(parser, text, context),
    (parser, text) => readers.indexes(parser, text),
  ];
  return (text) => readings.some((read) => read(parse5, text) !== read(lexbor, text));
}

async function main() {
  const { seed, count } = readArguments();
  const parsers = await loadParsers();
  const readers = await loadReaders();
  const nextSoup = createSoups(seed);
  const found = new Map();
  let unexplained = 0;
  for (let number = 0; number < count; number += 1) {
    const soup = nextSoup();
    const differs = comparisonOf(number, parsers, readers);
    if (!differs(soup)) continue;
    const kind = kindOf(soup, differs);
    found.set(kind ?? 'none', (found.get(kind ?? 'none') ?? 0) + 1);
    if (kind !== null) continue;
    unexplained += 1;
    process.stderr.write(`soup ${number}, shortened: ${JSON.stringify(shorten(withoutAll(soup), differs))}\n`);
  }
  process.stdout.write(`| kind | of ${count} soups, seed ${seed} |\n| --- | --- |\n`);
  for (const [kind, times] of [...found].sort(([, left], [, right]) => right - left)) {
    process.stdout.write(`| ${kind} | ${times} |\n`);
  }
  return unexplained === 0 ? 0 : 1;
}

process.exitCode = await main();
