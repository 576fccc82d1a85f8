// `list`: the list of tasks where there are very many of them: early and late pages, by tag, by condition and by text.
import { authorized, startProduct } from './processes.mjs';
import { folderWithManyTasks } from './many-tasks.mjs';
import { quantile } from './report.mjs';

const limit = 20;
const asked = 200;
const kept = { withinMs: 120_000 };

const pageAt = (page, filters = '') => `/api/notifications?limit=${limit}&page=${page}${filters}`;
const cases = [
  { title: 'first 50 pages', target: 5, path: (number) => pageAt(1 + (number % 50)) },
  { title: 'deepest page', target: 40, path: (number, pages) => pageAt(pages - (number % 3)) },
  { title: 'page in the middle', path: (number, pages) => pageAt(Math.floor(pages / 2) - number) },
  {
    title: 'by tag and condition',
    target: 20,
    path: (number) =>
      pageAt(1 + (number % 10), `&tag=shelf-${number % 5}&condition=${number % 2 ? 'true' : 'unknown'}`),
  },
  {
    title: 'by text',
    target: 50,
    path: (number) => pageAt(1, `&q=${encodeURIComponent(`offer ${String(number * 499).padStart(7, '0')}`)}`),
  },
  {
    title: 'by text of one task in a thousand',
    target: 50,
    path: (number) => pageAt(1, `&q=${encodeURIComponent(`offer ${String(number).padStart(4, '0')}`)}`),
  },
  { title: 'by text of every task', path: () => pageAt(1, '&q=offer') },
  ...['name', '-name', 'nextRunAt', 'attention'].map((sort) => ({
    title: `by tag, in order of ${sort}`,
    target: 20,
    // Of a tenth of all tasks, a fifth and all in turn.
    path: (number) => pageAt(1 + (number % 10), `&tag=${['kettle', 'shelf-1', 'offers'][number % 3]}&sort=${sort}`),
  })),
  {
    title: 'by tag of all, and a status',
    target: 20,
    path: (number) => pageAt(1 + (number % 10), `&tag=offers&status=${number % 2 ? 'active' : 'paused'}&sort=name`),
  },
  { title: 'by text of two letters', path: () => pageAt(1, '&q=ke') },
  { title: 'by attention', path: (number) => pageAt(1 + (number % 50), '&sort=attention') },
];

export async function timed(url, path) {
  const beganAt = performance.now();
  const answer = await fetch(new URL(path, url), { headers: authorized });
  const text = await answer.text();
  const ms = performance.now() - beganAt;
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return { ms, text };
}

export async function p99Of(url, pathOf, times) {
  const answers = [];
  for (let number = 0; number < times; number += 1) answers.push((await timed(url, pathOf(number))).ms);
  return quantile(answers, 0.99);
}

export async function* list({ tasks = 1_000_000 }) {
  const product = await startProduct(await folderWithManyTasks(tasks), kept);
  const { pagination } = JSON.parse((await timed(product.url, pageAt(1))).text);
  if (pagination.total !== tasks) throw new Error(`There are ${pagination.total} tasks.`);
  // Code that runs often is compiled first.
  await p99Of(product.url, (number) => pageAt(1 + number), asked);
  const baseline = { name: 'GET /api/action-types', value: await p99Of(product.url, () => '/api/action-types', asked) };
  for (const { title, target = null, path } of cases) {
    const isSlow = /every task|two letters/.test(title);
    const value = await p99Of(product.url, (number) => path(number, pagination.pages), isSlow ? 10 : asked);
    yield {
      bench: 'list',
      case: `${tasks.toLocaleString('en-US')} tasks: ${title}, p99`,
      value,
      unit: 'ms',
      baseline,
      target,
    };
  }
  await product.stop();
}
