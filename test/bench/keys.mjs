// `keys`: what looking up an API key costs among very many of them, what counting a request costs, and how many passwords are
// hashed at once. The built parts of the product, on the views of an installation.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { makeFolder } from './processes.mjs';
import { quantile } from './report.mjs';

const keys = 100_000;
const checks = 50_000;
const warmUp = 5_000;
const savedAtOnce = 2_000;
const guesses = 12;

const built = (path) => import(new URL(`../../dist/libs/${path}.js`, import.meta.url).href);
const clock = { now: Date.now };

/** So many keys as the view holds them; their texts. */
async function fill(readStore, pepper) {
  const [{ keysView }, { createApiKey, hashApiKey, parseApiKey }, { createIds }] = await Promise.all([
    built('contracts/account'),
    built('contracts/api-key'),
    built('runtime/ids'),
  ]);
  const ids = createIds();
  const organizationId = ids.next('org');
  const texts = Array.from({ length: keys }, () => createApiKey(randomBytes));
  const createdAt = new Date().toISOString();
  const none = { expiresAt: null, allowedCidrs: [], revokedAt: null, successorId: null };
  for (let from = 0; from < keys; from += savedAtOnce) {
    const writes = texts.slice(from, from + savedAtOnce).map((text) => {
      const { publicId } = parseApiKey(text);
      const hash = hashApiKey(text, pepper);
      const named = { id: ids.next('key'), publicId, organizationId, name: 'bench', scopes: ['read'], hash };
      return { id: publicId, revision: 1, document: { ...named, createdAt, ...none } };
    });
    await readStore.save(keysView, writes, null);
  }
  return { texts, organizationId };
}

/** Microseconds of each call, one after the other. */
async function timed(times, call) {
  const taken = [];
  for (let number = 0; number < times; number += 1) {
    const beganAt = performance.now();
    await call(number);
    if (number >= warmUp || times <= warmUp) taken.push(1_000 * (performance.now() - beganAt));
  }
  return taken;
}

async function* checksOf(readStore, pepper) {
  const { createKeyVerifier } = await built('http/api-key');
  const { texts } = await fill(readStore, pepper);
  const verifier = createKeyVerifier(readStore, pepper, clock);
  const baseline = {
    name: 'the same for a key that is not well-formed',
    value: quantile(await timed(checks, () => verifier.verify('Bearer mk_wrong', '127.0.0.1')), 0.5),
  };
  const figure = (title, value) => ({ bench: 'keys', case: title, value, unit: 'µs', baseline, target: 50 });
  const any = await timed(checks, async (number) => {
    const verdict = await verifier.verify(`Bearer ${texts[(number * 7_919) % keys]}`, '127.0.0.1');
    if (!verdict.ok) throw new Error(`A good key was refused: ${verdict.error.reason}`);
  });
  yield figure(`check of any of ${keys.toLocaleString('en-US')} keys, median`, quantile(any, 0.5));
  yield { ...figure('the same, p99', quantile(any, 0.99)), target: null };
  const same = await timed(checks, (number) => verifier.verify(`Bearer ${texts[number % 100]}`, '127.0.0.1'));
  yield figure('check of one of 100 keys in use, median', quantile(same, 0.5));
}

async function* countsOf(readStore) {
  const [{ createQuota }, { createDocumentState }] = await Promise.all([
    built('http/quota'),
    built('shared-state/document-state'),
  ]);
  const sharedState = createDocumentState(readStore);
  const hour = 3_600_000;
  for (const { title, limit } of [
    { title: 'a request counted, each by itself (budget of 1,000)', limit: 1_000 },
    { title: 'the same of 100,000', limit: 100_000 },
  ]) {
    const quota = createQuota(sharedState, clock);
    const taken = await timed(limit === 1_000 ? 900 : 20_000, () =>
      quota.take(`bench:${limit}`, { limit, windowMs: hour }),
    );
    yield { bench: 'keys', case: `${title}, median`, value: quantile(taken, 0.5), unit: 'µs' };
    await quota.close();
  }
}

async function* signInsOf() {
  const { createPasswords } = await import(new URL('../../dist/services/accounts/passwords.js', import.meta.url).href);
  const passwords = createPasswords();
  const stored = await passwords.hash('correct horse battery');
  const one = [];
  for (let number = 0; number < guesses; number += 1) {
    const beganAt = performance.now();
    await passwords.matches('a wrong one', stored);
    one.push(performance.now() - beganAt);
  }
  const beganAt = performance.now();
  await Promise.all(Array.from({ length: guesses }, () => passwords.matches('a wrong one', stored)));
  const together = performance.now() - beganAt;
  const baseline = { name: 'one password alone', value: quantile(one, 0.5) };
  yield { bench: 'keys', case: 'a wrong password, median', value: baseline.value, unit: 'ms' };
  yield {
    bench: 'keys',
    case: `passwords hashed at once, of ${guesses} that come together`,
    value: (guesses * baseline.value) / together,
    unit: '',
    baseline,
    target: 2.2,
  };
}

export async function* keysBench() {
  const { createSqliteReadStore } = await built('read-store/sqlite');
  const readStore = createSqliteReadStore(join(await makeFolder(), 'views.db'));
  try {
    yield* checksOf(readStore, randomBytes(32));
    yield* countsOf(readStore);
  } finally {
    await readStore.close();
  }
  yield* signInsOf();
}
