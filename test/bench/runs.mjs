// `runs`: the lists of executions and deliveries where there are very many of them, by every filter and behind a cursor.
import { makeHistory } from './history.mjs';
import { p99Of, timed } from './list.mjs';
import { makeFolder, startProduct } from './processes.mjs';

const asked = 200;
/** Views are built from the events before the start answers. */
const builtWithinMs = 900_000;
const tasks = 1_000;

const cases = [
  ['executions', ''],
  ['executions', 'outcome=true'],
  ['executions', 'outcome=null'],
  ['executions', 'status=succeeded'],
  ['executions', 'status=failed'],
  ['executions', 'trigger=manual'],
  ['executions', 'status=succeeded&outcome=true'],
  ['deliveries', ''],
  ['deliveries', 'state=delivered'],
  ['deliveries', 'state=failed'],
  ['deliveries', 'actionType=email'],
];

export async function* runs({ events = 3_000_000 }) {
  const folder = await makeFolder();
  await makeHistory(folder, { wantedTasks: tasks, wantedEvents: events });
  const product = await startProduct(folder, { withinMs: builtWithinMs });
  const answerOf = async (path) => JSON.parse((await timed(product.url, path)).text);
  const figure = (title, value, rest = {}) => ({ bench: 'runs', case: title, value, unit: 'ms', ...rest });
  try {
    // Code that runs often is compiled first.
    await p99Of(product.url, (number) => `/api/executions?limit=20&page=${1 + number}`, asked);
    const baseline = {
      name: 'GET /api/action-types',
      value: await p99Of(product.url, () => '/api/action-types', asked),
    };
    for (const [what, filters] of cases) {
      const path = `/api/${what}?limit=20&${filters}`;
      const { total } = (await answerOf(path)).pagination;
      const title = `${what}${filters === '' ? '' : ` by ${filters}`}, ${total.toLocaleString('en-US')} of them: p99`;
      const value = await p99Of(product.url, (number) => `${path}&page=${1 + (number % 10)}`, asked);
      yield figure(title, value, { baseline, target: 20 });
    }
    const { total } = (await answerOf('/api/executions?limit=1')).pagination;
    const [middle] = (await answerOf(`/api/executions?limit=1&page=${Math.ceil(total / 2)}`)).data;
    const { cursor } = await answerOf(`/api/executions?limit=20&after=&to=${encodeURIComponent(middle.queuedAt)}`);
    const behind = `/api/executions?limit=20&after=${encodeURIComponent(cursor.next)}`;
    yield figure('executions behind a cursor in their middle: p99', await p99Of(product.url, () => behind, asked), {
      baseline,
      target: 20,
    });
  } finally {
    await product.stop();
  }
}
