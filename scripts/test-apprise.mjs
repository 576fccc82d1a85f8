// `npm run test:apprise`: one message to the same target by Apprise and by Meerkat, for each channel that both have, to one
// receiver on this machine; the requests are compared. The last line printed is `N passed, N failed`; each channel counts as one.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { spawn } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { isOnOwnNode, root } from './launch.mjs';
import { judge, print, run } from './specs.mjs';

const home = join(root, 'test', 'apprise');
const venv = join(home, 'venv');
const load = (path) => import(new URL(`../${path}`, import.meta.url));
const { cases, message } = await load('test/apprise/cases.mjs');

/** Of every client; they say nothing of the message or the right to send it. */
const ownHeaders = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'connection',
  'content-length',
  'content-type',
  'host',
  'sec-fetch-mode',
  'user-agent',
  'x-apprise-id',
  'x-apprise-recursion-count',
  'x-case',
  'x-origin',
]);
/** What the clients ask for before they send, and what they want to read of the answer. */
const answer = JSON.stringify({
  ok: true,
  status: 1,
  user_id: '@meerkat:example.org',
  access_token: 'syt_token',
  home_server: 'matrix.example.org',
  device_id: 'MEERKAT',
  room_id: '!abc:example.org',
  joined_rooms: ['!abc:example.org'],
});

async function startReceiver() {
  const received = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      received.push({ method, url, headers, body: Buffer.concat(chunks).toString('utf8') });
      response.setHeader('content-type', 'application/json').end(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}`, received, close: () => server.close() };
}

/** Every text in a value, with the way to it. */
function leaves(value, way = '') {
  if (typeof value !== 'object' || value === null) return [[way, String(value)]];
  return Object.entries(value).flatMap(([name, one]) => leaves(one, way === '' ? name : `${way}.${name}`));
}

function fieldsOf(body, mediaType) {
  if (mediaType === 'application/x-www-form-urlencoded') return Object.fromEntries(new URLSearchParams(body));
  try {
    return JSON.parse(body);
  } catch {
    return { '(plain)': body };
  }
}

/** What a request says that the receiver acts on; `own`: what in its path each client chooses. */
function pointsOf({ method, url, headers, body }, own) {
  const { pathname, searchParams } = new URL(url, headers['x-origin']);
  searchParams.sort();
  const mediaType = (headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
  const all = leaves(fieldsOf(body, mediaType));
  const holding = (text) => all.filter(([, value]) => value.includes(text)).map(([way]) => way);
  return {
    method,
    origin: new URL(headers['x-origin']).origin,
    path: decodeURIComponent(own === undefined ? pathname : pathname.replace(own, '…')),
    query: searchParams.toString(),
    mediaType,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.has(name))),
    title: holding(message.title),
    text: holding(message.text),
  };
}

/** The request that carries the message, of those that an exchange took. */
const carrier = (requests, own) =>
  requests.map((one) => pointsOf(one, own)).findLast(({ text }) => text.length > 0) ?? null;

async function sendByApprise(receiver) {
  const targets = Object.fromEntries(Object.entries(cases).map(([type, { url }]) => [type, url]));
  const { title, text } = message;
  const child = spawn(join(venv, 'bin', 'python'), [join(home, 'send.py'), receiver.url, title, text], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(JSON.stringify(targets));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`Apprise ended with ${code}`);
}

const notification = {
  deliveryId: 'dlv_01kdyak3seqp9rrt4f96vqrzy5',
  organizationId: 'org_01kdyak3seqp9rrt4f96vqrzy5',
  taskId: 'ntf_01kdyak3seqp9rrt4f96vqrzy5',
  executionId: 'exe_01kdyak3seqp9rrt4f96vqrzy5',
  kind: 'triggered',
  action: { id: 'act_01kdyak3seqp9rrt4f96vqrzy5' },
  episode: 'condition:1',
  context: {
    task: { id: 'ntf_01kdyak3seqp9rrt4f96vqrzy5', name: 'Kettles', url: 'https://shop.example/', tags: [] },
    execution: {
      id: 'exe_01kdyak3seqp9rrt4f96vqrzy5',
      outcome: true,
      values: {},
      finishedAt: '2026-01-02T03:04:05.678Z',
      finalUrl: null,
    },
    transition: { kind: 'condition', from: 'false', to: 'true' },
    message: 'The condition of “Kettles” became true.',
  },
  createdAt: '2026-01-02T03:04:05.678Z',
};

async function sendByMeerkat(receiver) {
  const { channels } = await load('dist/libs/channels/channels.js');
  const context = {
    nowMs: Date.parse(notification.createdAt),
    linkBase: 'https://meerkat.example',
    mailFrom: 'Meerkat <watch@example.com>',
    opened: null,
    receipts: [],
  };
  for (const [type, { config }] of Object.entries(cases)) {
    const { requests, ...rest } = channels[type].build({ request: notification, config }, context);
    if (requests === undefined) throw new Error(`${type} sends nothing: ${shown(rest)}`);
    for (const { method, url, headers, body } of requests) {
      const { origin, pathname, search } = new URL(url);
      await fetch(receiver.url + pathname + search, {
        method,
        headers: { ...headers, 'x-origin': origin, 'x-case': type },
        body,
      });
    }
  }
}

const shown = (value) => JSON.stringify(value);

/** Where they differ, which has to be exactly what the case says. */
function differences(theirs, ours, deviations) {
  if (theirs === null) return ['Apprise sent no such message'];
  if (ours === null) return ['Meerkat sent no such message'];
  return Object.keys(ours).flatMap((point) => {
    const deviation = deviations[point];
    const isSame = isDeepStrictEqual(theirs[point], ours[point]);
    if (deviation === undefined) {
      return isSame ? [] : [`${point}: Apprise ${shown(theirs[point])}, Meerkat ${shown(ours[point])}`];
    }
    if (isSame) return [`${point}: is the same by now, so that no deviation has to be named`];
    const isAsNamed = isDeepStrictEqual([deviation.apprise, deviation.meerkat], [theirs[point], ours[point]]);
    return isAsNamed
      ? []
      : [`${point}: another deviation than named: Apprise ${shown(theirs[point])}, Meerkat ${shown(ours[point])}`];
  });
}

async function main() {
  await judge(async ({ failures }) => {
    const hasPython = (await run('python3', ['-c', 'import ensurepip'], { capture: true })).ok;
    if (!hasPython) {
      print('left out: Python 3 with venv is not on this machine');
      return [];
    }
    const steps = [
      { name: 'build', program: process.execPath, args: ['scripts/build.mjs', '--if-stale'] },
      { name: 'a Python of its own', program: 'python3', args: ['-m', 'venv', venv] },
      {
        name: 'Apprise',
        program: join(venv, 'bin', 'pip'),
        args: ['install', '--quiet', '-r', join(home, 'requirements.txt')],
      },
    ];
    for (const { name, program, args } of steps) {
      const { ok, note, output } = await run(program, args, { capture: true });
      if (ok) continue;
      print(`FAILED ${name} (${note})\n${output.slice(-4_000)}`);
      failures.push(name);
      return [{ passed: 0, failed: 1 }];
    }
    const [theirs, ours] = [await startReceiver(), await startReceiver()];
    try {
      await sendByApprise(theirs);
      await sendByMeerkat(ours);
    } finally {
      theirs.close();
      ours.close();
    }
    return Object.entries(cases).map(([type, { deviations = {}, own }]) => {
      const of = ({ received }) =>
        carrier(
          received.filter(({ headers }) => headers['x-case'] === type),
          own,
        );
      const found = differences(of(theirs), of(ours), deviations);
      const named = Object.keys(deviations);
      const because = named.length === 0 ? 'asks as Apprise does' : `asks as Apprise does but for ${named.join(', ')}`;
      print(`${found.length === 0 ? 'ok    ' : 'FAILED'} ${type} ${because}`);
      if (found.length === 0) return { passed: 1, failed: 0 };
      for (const one of found) print(`       ${one}`);
      failures.push(type);
      return { passed: 0, failed: 1 };
    });
  });
}

if (await isOnOwnNode(import.meta.url)) await main();
