/** Faults on request: a small HTTP port for tests. */
import { createServer, type Server } from 'node:http';
import { appendFaults, readFaults, type Faults } from './faults.ts';
import type { Cluster } from './cluster.ts';
import type { Log } from './log.ts';
import type { Counts, RunningMember } from './member.ts';

interface Context {
  readonly faults: Faults;
  readonly log: Log;
  readonly counts: Counts;
  readonly cut: () => void;
  /** null: a server by itself. */
  readonly cluster: Cluster | null;
  readonly members: readonly RunningMember[];
  readonly ports: readonly number[];
}

const endings = ['unavailable', 'cancelled', 'unknown'] as const;

/** Every path is a POST but `/state`; an unknown one is answered 404, a bad value 400. */
export function createControl({ faults, log, counts, cut, cluster, members, ports }: Context): Server {
  /** Of a cluster; false where there is none, or nobody to do it to. */
  const onCluster = async (path: string, query: URLSearchParams): Promise<boolean> => {
    if (cluster === null) return false;
    const [, of, what = ''] = /^\/members\/([0-9]+)\/(lag|start)$/.exec(path) ?? [];
    if (of !== undefined) {
      const index = Number(of);
      const member = members[index];
      if (member === undefined) return false;
      if (what === 'lag') {
        const events = Number(query.get('events'));
        if (!Number.isInteger(events) || events < 0) return false;
        cluster.setLag(index, events);
        return true;
      }
      if (cluster.members[index]?.state === 'killed') await member.listen(ports[index] ?? 0, true);
      else member.goOn();
      cluster.revive(index);
      return true;
    }
    switch (path) {
      case '/leader/resign':
        return cluster.resign() !== null;
      case '/leader/kill': {
        const lost = cluster.kill();
        if (lost !== null) await members[lost]?.kill();
        return lost !== null;
      }
      case '/leader/hang': {
        const lost = cluster.hang();
        if (lost !== null) members[lost]?.hang();
        return lost !== null;
      }
      default:
        return false;
    }
  };

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
      case '/system-event':
        log.writeSystemRecord();
        return true;
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
    '/system-event',
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
      reads: counts.reads,
      planned: faults.planned,
      refusing: faults.refusing,
      ...(cluster === null ? {} : { members: cluster.members }),
    });
    if (request.method === 'GET' && pathname === '/state') return answer(200, state());
    const isOfCluster = /^\/(?:leader|members)\/./.test(pathname);
    if (request.method !== 'POST' || (!paths.has(pathname) && !isOfCluster)) {
      return answer(404, { error: 'no such fault' });
    }
    const done = isOfCluster ? onCluster(pathname, searchParams) : Promise.resolve(perform(pathname, searchParams));
    done.then(
      (isDone) => (isDone ? answer(200, state()) : answer(400, { error: 'a value is not known' })),
      (error: unknown) => answer(500, { error: String(error) }),
    );
  });
}
