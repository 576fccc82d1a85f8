/** Faults on request: a small HTTP port for tests. */
import { createServer, type Server } from 'node:http';
import { appendFaults, readFaults, type Faults } from './faults.ts';
import type { Log } from './log.ts';

interface Context {
  readonly faults: Faults;
  readonly log: Log;
  readonly cut: () => void;
}

const endings = ['unavailable', 'cancelled', 'unknown'] as const;

/** Every path is a POST but `/state`; an unknown one is answered 404, a bad value 400. */
export function createControl({ faults, log, cut }: Context): Server {
  const perform = (path: string, query: URLSearchParams): boolean => {
    const count = Number(query.get('count') ?? '1');
    switch (path) {
      case '/subscriptions/end': {
        const error = query.get('error');
        const ending = endings.find((each) => each === error) ?? null;
        if (error !== null && ending === null) return false;
        for (const subscription of faults.subscriptions) subscription.end(ending);
        return true;
      }
      case '/subscriptions/silence':
        for (const subscription of faults.subscriptions) subscription.silence();
        return true;
      case '/appends': {
        const fault = appendFaults.find((each) => each === query.get('fault'));
        if (fault === undefined || !(count > 0)) return false;
        faults.planAppends(fault, count, Number(query.get('delayMs') ?? '6000'));
        return true;
      }
      case '/reads': {
        const fault = readFaults.find((each) => each === query.get('fault'));
        if (fault === undefined || !(count > 0)) return false;
        faults.planReads(fault, count);
        return true;
      }
      case '/leader': {
        const port = Number(query.get('port'));
        if (!(port > 0)) return false;
        faults.leader = { host: query.get('host') ?? '127.0.0.1', port };
        return true;
      }
      case '/refuse':
        faults.refusing = true;
        return true;
      case '/cut':
        cut();
        return true;
      case '/heal':
        faults.heal();
        return true;
      default:
        return false;
    }
  };

  const paths = new Set([
    '/subscriptions/end',
    '/subscriptions/silence',
    '/appends',
    '/reads',
    '/leader',
    '/refuse',
    '/cut',
    '/heal',
  ]);

  return createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://control');
    const answer = (code: number, body: object): void => {
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const state = () => ({
      subscriptions: faults.subscriptions.size,
      lastPosition: log.lastPosition,
      planned: faults.planned,
      refusing: faults.refusing,
    });
    if (request.method === 'GET' && pathname === '/state') return answer(200, state());
    if (request.method !== 'POST' || !paths.has(pathname)) return answer(404, { error: 'no such fault' });
    if (!perform(pathname, searchParams)) return answer(400, { error: 'a value is not known' });
    answer(200, state());
  });
}
