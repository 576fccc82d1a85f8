/** What the specs of the adapter share: a server that fails on request. It cannot be the one that others use. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { FailingServer } from './event-store-outage.contract.js';

/** The protocol double as a process of its own; with more than one member, a cluster. `more`: further words of its command line. */
export function createFailingServer(folder: string, members = 1, more: readonly string[] = []) {
  let child: ChildProcess | null = null;
  let ports = ['0', '0'];
  let urls = ['', ''];

  const start = async (): Promise<void> => {
    const [port = '0', control = '0'] = ports;
    const args = [
      'test/servers/eventstoredb/main.ts',
      '--port',
      port,
      '--control',
      control,
      '--data',
      folder,
      '--cluster',
      String(members),
      ...more,
    ];
    const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    const line = async (stream: NodeJS.ReadableStream): Promise<string> => {
      const [text] = (await once(createInterface(stream), 'line')) as [string];
      return text.slice(text.indexOf('=') + 1);
    };
    urls = await Promise.all([line(started.stdout), line(started.stderr)]);
    ports = urls.map((url) => /:(\d+)(?:,|\?|$)/.exec(url)?.[1] ?? '0');
  };
  const post = async (path: string): Promise<void> => {
    const response = await fetch(`${urls[1]}${path}`, { method: 'POST' });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  const server: FailingServer = {
    loseNextAnswer: () => post('/appends?fault=cut-after'),
    cutBeforeNextAppend: () => post('/appends?fault=cut-before'),
    repeatNextAppend: () => post('/appends?fault=twice'),
    sendNextAppendElsewhere: () => post('/appends?fault=not-leader'),
    endSubscriptions: (how) => post(`/subscriptions/end${how === 'quietly' ? '' : '?error=unknown'}`),
    silenceSubscriptions: () => post('/subscriptions/silence'),
    async kill() {
      if (child === null || child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      child = null;
    },
    start,
  };
  const state = async (): Promise<unknown> => (await fetch(`${urls[1]}/state`)).json();
  return { server, post, state, url: () => urls[0] ?? '' };
}
