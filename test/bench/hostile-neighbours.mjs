// Hostile neighbours of ordinary tasks, in a process of its own: hostile pages and receivers, the tasks that use them, and a
// client that sends what it should not. `node hostile-neighbours.mjs '{ "url", "key", "seconds" }'` says `attacking` once all
// of it runs, and ends by itself. Every request goes to an address of this machine's loopback.
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const { url, key, seconds } = JSON.parse(process.argv[2]);
const target = new URL(url);
if (!/^(127\.|localhost$|\[::1\]$)/.test(target.hostname))
  throw new Error(`not a loopback address: ${target.hostname}`);
const endsAt = performance.now() + seconds * 1_000;
const isOver = () => performance.now() >= endsAt;
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

const nested = `${'['.repeat(3_000)}1${']'.repeat(3_000)}`;
/** 8 MB of text in two-byte characters. */
const utf16 = Buffer.from(`<title>x</title><p>${'ж '.repeat(2_000_000)}</p>`, 'utf16le');
const answers = {
  '/nested': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(nested),
  '/utf16': (response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-16le' }).end(utf16),
  '/words': (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('secret words '.repeat(8_000)),
  '/plain': (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>plain</p>'),
  '/trickle': (response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    const drip = setInterval(() => response.write('.'), 500);
    response.on('close', () => clearInterval(drip));
  },
  '/hang': () => undefined,
  '/fails': (response) => response.writeHead(500).end('x'.repeat(200_000)),
};
async function startSite() {
  const site = createServer((request, response) => {
    request.resume();
    response.on('error', () => undefined);
    const answer = answers[new URL(request.url, 'http://localhost').pathname];
    if (answer === undefined) response.writeHead(404).end();
    else answer(response);
  });
  site.keepAliveTimeout = 60_000;
  await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));
  return site;
}
const site = await startSite();
/** A site of its own: loads in its line would keep those of the other from beginning in time, and so from doing their worst. */
const slowSite = await startSite();
const addressOf = (server, path) => `http://127.0.0.1:${server.address().port}${path}`;
const at = (path) => addressOf(site, path);

async function send(method, path, body) {
  try {
    const answer = await fetch(new URL(path, url), {
      method,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    return { status: 0, text: String(error) };
  }
}

async function create(name, settings) {
  const { status, text } = await send('POST', '/api/notifications', {
    name: `hostile: ${name}`,
    url: at('/plain'),
    evaluationFunction: 'true',
    schedule: { type: 'interval', intervalSeconds: 1 },
    ...settings,
  });
  if (status !== 201) throw new Error(`${name} was not created: ${status} ${text.slice(0, 500)}`);
  return JSON.parse(text).data.id;
}

/** Well before the attack ends, so that what ends a load is its time and not the end of its site. */
const slowSeconds = 20;
const many = (count, make) => Promise.all(Array.from({ length: count }, (_, index) => make(index)));
const manual = { schedule: { type: 'manual' } };
const hook = (path, config = {}) => ({ type: 'webhook', config: { url: at(path), ...config } });
/** 819 words that are secrets, and one of 8 KB: what a redactor has to find. */
const secrets = {
  long: 'k'.repeat(8_000),
  ...Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`w${n}`, `word${n}x`])),
};
const costly = `{% for i in (1..900) %}{% for j in (1..900) %}{% assign x = i | times: j | append: "x" | upcase %}{% endfor %}{% endfor %}`;

/**
 * Tasks that are triggered again and again, each kind for itself.
 *
 * @type {{ receivers: string[]; templates: string[]; redacted: string[] }}
 */
const forced = { receivers: [], templates: [], redacted: [] };
const triggeredEveryMs = 1_500;
const scheduled = [
  create('endless code', { evaluationFunction: 'for (;;);' }),
  // So quickly that on no machine its time is over first.
  create('memory', { evaluationFunction: 'const all = []; for (;;) all.push(new Uint8Array(1000000).fill(1));' }),
  create('large values', {
    evaluationFunction: 'for (let i = 0; i < 999; i++) page.report("v" + i, "x".repeat(60000)); true',
  }),
  create('nested values', { url: at('/nested'), evaluationFunction: 'page.report("v", page.json()); true' }),
  create('broken built-ins', {
    evaluationFunction: 'String = JSON = Array = null; Object.prototype.toJSON = () => { for (;;); }; true',
  }),
  create('a large page in another encoding', { url: at('/utf16'), evaluationFunction: 'page.text.length > 5' }),
];
const ids = await Promise.all([
  ...scheduled,
  many(24, (n) =>
    create(`slow site ${n}`, { url: addressOf(slowSite, '/trickle'), fetch: { timeoutSeconds: slowSeconds } }),
  ),
  many(60, (n) => create(`dead origin ${n}`, { url: `http://127.0.${1 + n}.1:1/` })),
  many(64, async (n) => {
    forced.receivers[n] = await create(`hanging receiver ${n}`, {
      ...manual,
      actions: [hook('/hang', { timeoutSeconds: 60 })],
    });
  }),
  many(3, async () => {
    forced.templates.push(
      await create('a costly template', { ...manual, actions: [hook('/plain', { body: costly })] }),
    );
  }),
  many(2, async () => {
    const code = `return { url: ${JSON.stringify(at('/fails'))}, method: 'POST', body: secrets.long + ' word1x '.repeat(7000) }`;
    const action = { type: 'custom', config: { code, secrets } };
    forced.redacted.push(await create('much to redact', { ...manual, url: at('/words'), actions: [action] }));
  }),
]);
const large = await create('large settings', { ...manual, evaluationFunction: `true /*${'x'.repeat(60_000)}*/` });
process.stdout.write('attacking\n');

async function repeat(everyMs, work) {
  while (!isOver()) {
    await work();
    await delay(everyMs);
  }
}

/** A connection that sends the beginning of a request and then a byte now and then. */
function halfOpen() {
  const socket = connect({ host: target.hostname, port: Number(target.port) });
  socket.on('error', () => undefined).on('close', () => clearInterval(drip));
  socket.write(
    'POST /api/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{',
  );
  const drip = setInterval(() => socket.write(' '), 1_000);
  return socket;
}
const sockets = Array.from({ length: 200 }, halfOpen);

let round = 0;
await Promise.all([
  // Each of them triggers its task, whatever the policy says; those of one template or redactor as often as all receivers.
  ...Object.values(forced).map((tasks) => {
    let next = 0;
    return repeat(triggeredEveryMs, () =>
      send('POST', `/api/notifications/${tasks[next++ % tasks.length]}/execute`, { force: true }),
    );
  }),
  repeat(200, () => {
    round += 1;
    return send('PATCH', `/api/notifications/${large}`, {
      evaluationFunction: `true /*${round}${'y'.repeat(60_000)}*/`,
    });
  }),
  repeat(1_000, () => send('GET', `/api/notifications/${large}/history?limit=100`)),
  repeat(1_000, () => send('GET', '/api/notifications?limit=100')),
  repeat(500, () =>
    send('PATCH', `/api/notifications/${large}`, `${'{"fetch":'.repeat(100_000)}1${'}'.repeat(100_000)}`),
  ),
  repeat(500, () => send('PATCH', `/api/notifications/${large}`, `{"actions":[${'1,'.repeat(400_000)}1]}`)),
  repeat(100, async () => {
    const body = `{"email":"a@example.com","password":"${'x'.repeat(1_000_000)}"}`;
    await fetch(new URL('/api/sessions', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
      .then((answer) => answer.text())
      .catch(() => undefined);
  }),
]);
for (const socket of sockets) socket.destroy();
process.stdout.write(`attacked with ${ids.flat().length + Object.values(forced).flat().length} tasks\n`);
process.exit(0);
