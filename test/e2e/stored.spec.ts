/** Data written by an earlier version: this version reads it, gives the same answers, and continues. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { startHookSink, verified, type HookSink } from './kit/hook-sink.js';
import { createStoredInstallation, type StoredInstallation } from './kit/stored-installation.js';
import { startMailSink, type MailSink } from './kit/mail-sink.js';
import { until } from './kit/until.js';
import { sitePort, webhookSecret } from './stored/story.js';

const executions = z.object({
  data: z.array(z.object({ id: z.string(), error: z.object({ reason: z.string() }).nullable() })),
});

const change = z.object({ path: z.string(), from: z.json().default(null), to: z.json().default(null) });
const history = z.looseObject({ data: z.array(z.looseObject({ changes: z.array(change) })) });

/** Answers only grow: those of then, with what is new in them and what it is for a task of then. */
function withNewFields(path: string, text: string, reasons: ReadonlyMap<string, string>): string {
  // A history is what was stored; a side of a change that was not there is null.
  if (path.endsWith('/history')) {
    const then = z.looseObject({ data: z.array(z.looseObject({})) }).parse(JSON.parse(text));
    const filled = history.parse(then).data.map(({ changes }) => changes);
    return JSON.stringify({
      ...then,
      data: then.data.map((entry, index) => ({ ...entry, changes: filled[index] ?? [] })),
    });
  }
  const withSchedule = text.replace(
    /"schedule":\{"type":"interval","intervalSeconds":(\d+),"catchUp":"(\w+)"\}/g,
    (_schedule, seconds: string, catchUp: string) =>
      `"schedule":{"type":"interval","intervalSeconds":${seconds},"timezone":"UTC","startAt":null,"endAt":null,"windows":[],"jitterSeconds":0,"overlap":"skip","catchUp":"${catchUp}"}`,
  );
  const withPolicy = withSchedule.replace(
    /"policy":\{"notifyOn":"became_true","errorThreshold":(\d+)\}/g,
    (_policy, threshold: string) =>
      `"policy":{"notifyOn":"became_true","confirmations":1,"recoveryConfirmations":1,"cooldownSeconds":0,"reminderSeconds":0,"errorThreshold":${threshold},"flapWindow":0,"quietHours":[],"maxPerHour":0,"dependsOn":[],"muted":false}`,
  );
  return withPolicy.replace(
    /("lastExecution":\{"id":"(exe_\w+)"[^{}]*"durationMs":\d+)\}/g,
    (_execution, known: string, id: string) =>
      `${known},"value":null,"reason":${JSON.stringify(reasons.get(id) ?? null)}}`,
  );
}

describe('the data of an earlier version', () => {
  let hooks: HookSink;
  let mails: MailSink;
  let stored: StoredInstallation;

  const expectSameAnswers = async (): Promise<void> => {
    const { installation, answers } = stored;
    const paths = Object.keys(answers);
    const runs = executions.parse(JSON.parse(answers['/api/executions?limit=100']?.text ?? '')).data;
    const reasons = new Map(runs.flatMap(({ id, error }) => (error === null ? [] : [[id, error.reason] as const])));
    const now = await Promise.all(paths.map(async (path) => [path, await installation.api.send(path)] as const));
    // An error's answer carries the id of its own request.
    const shown = (status: number, text: string) => ({ status, ...(status === 200 ? { text } : {}) });
    // Not told then: what settings leave silent, who made a key and when it was used last, what gathers or escalates, acknowledgements, and what
    // to do about a status.
    const known = (text: string): string =>
      text
        .replace(/,"warnings":\[(?:\{[^{}]*\},?)*\]/g, '')
        .replace(/,"lastUsedAt":(?:null|"[^"]*")/g, '')
        .replace(/,"createdBy":(?:null|"[^"]*")(?=,"expiresAt")/g, '')
        .replace(/"digestSeconds":0,"afterSeconds":0,"retryUnknown":true,/g, '')
        .replace(/,"acknowledged":null/g, '')
        .replace(/("reason":"http_status","message":"[^"]*"),"hint":"(?:[^"\\]|\\.)*"/g, '$1');
    expect(Object.fromEntries(now.map(([path, { status, text }]) => [path, shown(status, known(text))]))).toEqual(
      Object.fromEntries(
        Object.entries(answers).map(([path, { status, text }]) => [
          path,
          shown(status, withNewFields(path, text, reasons)),
        ]),
      ),
    );
  };

  beforeAll(async () => {
    [hooks, mails] = await Promise.all([startHookSink(sitePort), startMailSink()]);
    stored = await createStoredInstallation(mails.url);
    await stored.installation.start();
  });

  afterAll(async () => {
    await stored.remove();
    await Promise.all([hooks.close(), mails.close()]);
  });

  it('gives the same answers to the byte', async () => {
    await expectSameAnswers();
  });

  it('gives the same answers to the byte once every view is rebuilt from its events', async () => {
    expect((await stored.installation.command(['rebuild', 'all', '--json'])).exitCode).toBe(0);
    await expectSameAnswers();
  });

  it('has secrets that still open: a new run notifies the stored receivers, signed with the stored secret', async () => {
    const { api } = stored.installation;
    const text = stored.answers['/api/notifications?limit=100']?.text ?? '';
    const { id } = /"id":"(?<id>ntf_\w+)"[^{}]*"name":"Stock"/.exec(text)?.groups ?? {};
    if (id === undefined) throw new Error(`no task called Stock in ${text}`);
    // The page's site and the receivers share their address, which the stored events hold; here it answers `as told`.
    const changed = await api.send(`/api/notifications/${id}`, {
      method: 'PATCH',
      json: { evaluationFunction: 'true' },
    });
    expect(changed.status).toBe(200);
    const run = await api.execute(id, 30, { force: true });
    expect(run).toMatchObject({ outcome: true, decision: { notify: true } });
    const path = '/hook?token=in-the-address';
    const [hook] = await until('the webhook came', () => {
      const received = hooks.received(path);
      return received.length > 0 ? received : null;
    });
    if (hook === undefined) throw new Error('nothing came');
    expect(verified(hook, webhookSecret)).toMatchObject({ data: { task: { id }, execution: { id: run.id } } });
    expect(hook.headers['authorization']).toBe('Bearer hook-password');
    const [custom] = await until('the custom request came', () => {
      const received = hooks.received('/custom');
      return received.length > 0 ? received : null;
    });
    expect(custom?.headers['x-token']).toBe('custom-password');
    const mailboxes = (): readonly string[] => mails.taken().flatMap(({ recipients }) => recipients);
    // Each has a message of its own, in whatever order.
    await until('the mails came', () => mailboxes().length === 3);
    expect(mailboxes().toSorted()).toEqual(['one@example.com', 'three@example.com', 'two@example.com']);
    expect(stored.installation.lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
  });
});
