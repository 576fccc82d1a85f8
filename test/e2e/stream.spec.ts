/** The live stream: what changes is told as it happens, and a reader that was away gets what it missed. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createInstallation } from './kit/create-installation.js';
import { openStream, type EventStream } from './kit/event-stream.js';
import { ownerPassword, type Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { signIn, type Person } from './kit/people.js';
import { whenInStock } from './kit/settings.js';
import { until } from './kit/until.js';

const created = z.object({ data: z.object({ id: z.string(), key: z.string() }) });

let installation: Installation;
let site: PageSite;

beforeAll(async () => {
  site = await startPageSite();
  site.serve('/shop', html('sold out'));
  installation = await createInstallation();
  await installation.start();
});

afterAll(async () => {
  await installation.remove();
  await site.close();
});

const open = (
  query = '',
  headers: Readonly<Record<string, string>> = {},
  url = installation.url,
): Promise<EventStream> =>
  openStream(`${url}/api/stream${query}`, {
    authorization: `Bearer ${installation.apiKey}`,
    ...headers,
  });

const createTask = async (name: string): Promise<string> => {
  const { id } = await installation.api.create({
    ...whenInStock(site.address('/shop')),
    name,
    schedule: { type: 'manual' },
  });
  return id;
};

const namesIn = ({ events }: EventStream): readonly string[] =>
  events.flatMap(({ event, data }) => (event === 'task' ? [z.object({ name: z.string() }).parse(data).name] : []));

describe('the stream', () => {
  it('is open twenty times for one key, and again once one of them is closed', async () => {
    const streams = await Promise.all(Array.from({ length: 20 }, () => open()));
    expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    const refused = await open();
    expect(refused.status).toBe(429);
    await streams[0]?.close();
    const again = await until('a place is free', async () => {
      const stream = await open();
      return stream.status === 200 ? stream : null;
    });
    await Promise.all([...streams, again].map((stream) => stream.close()));
  });

  it('tells of tasks, executions and removals as the lists give them', async () => {
    const stream = await open();
    expect(stream.status).toBe(200);
    const id = await createTask('told');
    const { id: executionId } = await installation.api.execute(id, 30);
    await until('the execution was told as finished', () =>
      stream.events.some(
        ({ event, data }) =>
          event === 'execution' && z.object({ id: z.string(), status: z.string() }).parse(data).status === 'succeeded',
      ),
    );
    const told = stream.events.findLast(({ event }) => event === 'execution');
    const { body } = await installation.api.send(`/api/executions/${executionId}`);
    expect(told?.data).toEqual(z.object({ data: z.unknown() }).parse(body).data);
    const toldTask = z.looseObject({ lastExecution: z.object({ id: z.string() }).nullable() });
    await until('the task was told with its run', () =>
      stream.events.some(
        ({ event, data }) => event === 'task' && toldTask.parse(data).lastExecution?.id === executionId,
      ),
    );
    await installation.api.send(`/api/notifications/${id}`, { method: 'DELETE' });
    await until('the removal was told', () => stream.events.some(({ event }) => event === 'removed'));
    expect(stream.events.findLast(({ event }) => event === 'removed')?.data).toEqual({ kind: 'task', id });
    expect(stream.events.some(({ event }) => event === 'gap')).toBe(false);
    await stream.close();
  });

  it('goes on after a kill with what happened meanwhile', async () => {
    const stream = await open('?types=task');
    await createTask('before');
    await until('it was told', () => namesIn(stream).includes('before') && stream.lastEventId !== null);
    await stream.close();
    const id = await createTask('while away');
    await installation.kill('SIGKILL');
    await stream.ended;
    await installation.start();
    await installation.api.send(`/api/notifications/${id}`, { method: 'PATCH', json: { name: 'changed since' } });
    const again = await open('?types=task', { 'last-event-id': stream.lastEventId ?? '' });
    await until('what was missed was told', () => namesIn(again).includes('changed since'));
    expect(again.events.map(({ event }) => event)).not.toContain('gap');
    await createTask('afterwards');
    await until('what comes is told', () => namesIn(again).includes('afterwards'));
    await again.close();
  });

  it('goes on at every door of the installation, whichever gave the id', async () => {
    for (const from of installation.urls) {
      for (const to of installation.urls) {
        const stream = await open('?types=task', {}, from);
        await createTask('before');
        await until('it was told', () => namesIn(stream).includes('before') && stream.lastEventId !== null);
        await stream.close();
        await createTask('while at no door');
        const again = await open('?types=task', { 'last-event-id': stream.lastEventId ?? '' }, to);
        await until('what was missed was told', () => namesIn(again).includes('while at no door'));
        expect(again.events.map(({ event }) => event)).not.toContain('gap');
        await again.close();
      }
    }
  });

  it('begins with a gap where the id was never given', async () => {
    for (const id of ['999999999999999', 'garbage', '-1', `${'9'.repeat(200)}`]) {
      const stream = await open('', { 'last-event-id': id });
      await until('the gap was told', () => stream.events.length > 0);
      expect(stream.events[0]).toEqual({ event: 'gap', data: {} });
      await stream.close();
    }
  });

  it('tells a reader that takes nothing of one gap, and goes on with what comes then', async () => {
    const { hostname, port, host } = new URL(installation.url);
    const socket = connect({ host: hostname, port: Number(port) });
    const head = `GET /api/stream?types=task HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${installation.apiKey}\r\n\r\n`;
    socket.write(head);
    await once(socket, 'readable');
    const id = await createTask('too much');
    // More than the kernel, the connection and the server keep for one that does not read.
    const filler = 'x'.repeat(60_000);
    for (let written = 0; written < 10_000_000; written += filler.length) {
      const json = { evaluationFunction: `return false; // ${written} ${filler}` };
      expect((await installation.api.send(`/api/notifications/${id}`, { method: 'PATCH', json })).status).toBe(200);
    }
    let text = '';
    socket.setEncoding('utf8').on('data', (some: string) => (text += some));
    await until('the gap is told', () => text.includes('event: gap\ndata: {}\n'));
    await installation.api.send(`/api/notifications/${id}`, { method: 'PATCH', json: { name: 'in time again' } });
    await until('what comes is told', () => text.includes('in time again'));
    expect(text.match(/^event: gap$/gm)).toHaveLength(1);
    expect(text.indexOf('event: gap')).toBeLessThan(text.indexOf('in time again'));
    socket.destroy();
    await installation.api.send(`/api/notifications/${id}?purge=true`, { method: 'DELETE' });
  });

  it('ends when its session does: signed out, or with a new password', async () => {
    const [person, elsewhere] = [await signIn(installation), await signIn(installation)];
    const streamOf = ({ cookie }: Person): Promise<EventStream> =>
      openStream(`${installation.url}/api/stream`, { cookie });
    const streams = [await streamOf(person), await streamOf(elsewhere)];
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    await elsewhere.send('/api/sessions/current', { method: 'DELETE' });
    await streams[1]?.ended;
    await createTask('still told');
    await until('the other one is still told', () =>
      streams.slice(0, 1).some((one) => namesIn(one).includes('still told')),
    );
    const json = { currentPassword: ownerPassword, newPassword: `${ownerPassword} battery` };
    const another = await signIn(installation);
    expect((await another.send('/api/account/password', { json })).status).toBe(200);
    await streams[0]?.ended;
  });

  it('ends when its key does, and when the server stops', async () => {
    const json = { name: 'reader', scopes: ['read'] };
    const { data } = created.parse((await installation.api.send('/api/keys', { method: 'POST', json })).body);
    const stream = await open('', { authorization: `Bearer ${data.key}` });
    const other = await open();
    expect(stream.status).toBe(200);
    expect((await installation.api.send(`/api/keys/${data.id}`, { method: 'DELETE' })).status).toBe(200);
    await stream.ended;
    const { code } = await installation.kill('SIGTERM');
    expect(code).toBe(0);
    await other.ended;
    // Clients keep their connections: a server that stops does not wait for them.
    expect(installation.lines.filter((line) => line.includes('was not finished within'))).toEqual([]);
    await installation.start();
  });
});
