// The other side of `create`, in a process of its own: so many connections, each sends its next request when it has the
// answer to the last. Settings in as an argument, figures and ids out as JSON.
import { createRandom } from './random.mjs';
import { Pool } from 'undici';

const { url, path, headers, connections, ms, kind, seed } = JSON.parse(process.argv[2]);
const random = createRandom(seed);
const pool = new Pool(url, { connections, pipelining: 1 });

const code = (variant) => `const price = page.number(document.querySelector('.price, [itemprop=price]'));
return price > 0 && price < ${variant};`;

/** Every body is another one; how much of it differs is what the cases are about. */
const bodies = {
  plain: (number) => ({
    name: `Offer ${seed}-${number}`,
    url: `https://shop.example/products/${number}?ref=${Math.floor(random() * 1e9)}`,
    evaluationFunction: code(100 + (number % 50)),
    schedule: { type: 'manual' },
  }),
  webhook: (number) => ({
    ...bodies.plain(number),
    actions: [{ type: 'webhook', config: { url: `https://hooks.example/in/${number}` } }],
  }),
  'own code': (number) => ({ ...bodies.plain(number), evaluationFunction: code(`${number}.${seed}`) }),
};

const ids = [];
const latencies = [];
const refused = new Map();
const endsAt = performance.now() + ms;
let next = 0;

async function connection() {
  while (performance.now() < endsAt) {
    const body = JSON.stringify(bodies[kind]((next += 1)));
    const sentAt = performance.now();
    const answer = await pool.request({ path, method: 'POST', headers, body });
    const text = await answer.body.text();
    const answeredAt = performance.now();
    if (answer.statusCode === 201) {
      ids.push(/"id":"(ntf_[0-9a-z]+)"/.exec(text)[1]);
      if (answeredAt <= endsAt) latencies.push(answeredAt - sentAt);
    } else {
      const words = `${answer.statusCode} ${text.slice(0, 200)}`;
      refused.set(words, (refused.get(words) ?? 0) + 1);
    }
  }
}

await Promise.all(Array.from({ length: connections }, connection));
await pool.close();
process.stdout.write(JSON.stringify({ ids, latencies, refused: [...refused] }));
