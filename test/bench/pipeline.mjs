// `pipeline`: what one check costs from the due run to its durable record: the page loaded over loopback by the product's
// own loader, parsed and evaluated in a fresh sandbox, decided and appended. Several at a time, with both page parsers.
import { startAnswering, startProcess } from './processes.mjs';

const sizes = [
  { title: '10 KB', bytes: 10_000, targets: { parse5: 700, lexbor: 900, unchanged: 5_000 } },
  { title: '100 KB', bytes: 100_000, targets: { parse5: 130, lexbor: 300, unchanged: 2_000 } },
];
/** How the page's server behaves, and how that is called. */
const kinds = { changing: 'changed', steady: 'unchanged', tagged: 'unchanged, 304' };
const shape = 'shop';
/** As the product does by itself on two cores. */
const atOnce = 16;
const warmupMs = 1_500;
/** A server runs for weeks: for so many checks, some ten seconds, what they cost falls by a third while code is compiled. */
const warmupChecks = 10_000;
/** Each is measured in turns, so that what else the machine does falls on all alike. */
const rounds = 4;
const roundMs = 1_000;

const load = (path) => import(new URL(`../../dist/${path}.js`, import.meta.url));

/** Checks in a second of processor time of all threads, for each work in turn. */
async function ratesPerCore(works) {
  const totals = works.map(() => ({ count: 0, seconds: 0 }));
  for (const { ask } of works) await ask({ what: 'run', ms: warmupMs, atLeast: warmupChecks });
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { ask }] of works.entries()) {
      const { count, seconds } = await ask({ what: 'run', ms: roundMs, atLeast: 0 });
      totals[index].count += count;
      totals[index].seconds += seconds;
    }
  }
  return totals.map(({ count, seconds }) => count / seconds);
}

async function* measure({ title, bytes, targets }, kind, names, server) {
  const url = `${server.url}/${kind}/${shape}/${bytes}`;
  const works = await Promise.all(
    [...names, 'baseline'].map((work) => startAnswering('pipeline-work.mjs', { work, url, shape, atOnce })),
  );
  try {
    const rates = await ratesPerCore(works);
    for (const { ask } of works) {
      const { outcome } = await ask({ what: 'outcome' });
      if (outcome !== 'succeeded') throw new Error(`the checks did not succeed: ${outcome}`);
    }
    const baseline = { name: 'fetch + parse5', value: rates.at(-1) };
    for (const [index, name] of names.entries()) {
      yield {
        bench: 'pipeline',
        case: kind === 'changing' ? `${title}, ${kinds[kind]}, ${name}` : `${title}, ${kinds[kind]}`,
        value: rates[index],
        unit: '/s/core',
        baseline,
        target: kind === 'changing' ? targets[name] : targets.unchanged,
        direction: 'at least',
      };
    }
  } finally {
    for (const { close } of works) await close();
  }
}

export async function* pipeline() {
  const { isLexborBuilt } = await load('libs/sandbox/parsers/lexbor-place');
  if (!isLexborBuilt()) process.stderr.write('lexbor is not built (npm run build:parser): measuring parse5 alone\n');
  const names = isLexborBuilt() ? ['parse5', 'lexbor'] : ['parse5'];
  const server = await startProcess('test/bench/page-server.mjs', { probe: '/' });
  try {
    for (const size of sizes) {
      yield* measure(size, 'changing', names, server);
      // No page is parsed here: which parser it would be makes no difference.
      for (const kind of ['steady', 'tagged']) yield* measure(size, kind, names.slice(0, 1), server);
    }
  } finally {
    await server.stop();
  }
}
