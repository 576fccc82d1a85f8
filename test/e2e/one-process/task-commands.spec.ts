/** The commands of an operator on tasks of a running server. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { embeddedInstallation, type EmbeddedInstallation } from '../kit/embedded.js';
import { runCommand } from '../kit/command-line.js';
import { scratchFolder } from '../kit/installation.js';
import { html, startPageSite, type PageSite } from '../kit/page-site.js';
import { byHand } from '../kit/settings.js';

const listed = z.array(z.object({ id: z.string(), name: z.string(), outcome: z.boolean().nullable() }));

let installation: EmbeddedInstallation;
let site: PageSite;
let folder: string;
let id: string;

beforeAll(async () => {
  [site, folder] = await Promise.all([startPageSite(), scratchFolder()]);
  site.serve('/shop', html('in stock 7'));
  installation = await embeddedInstallation();
  await installation.start();
  const code =
    "console.log('looked'); const n = page.number(document.querySelector('#stock')); page.report('value', n); return n > 5";
  ({ id } = await installation.api.create({
    ...byHand(site.address('/shop')),
    name: 'Kettle',
    evaluationFunction: code,
  }));
});

afterAll(async () => {
  await installation.remove();
  await site.close();
});

const command = (...words: string[]) =>
  runCommand(words, { MEERKAT_URL: installation.url, MEERKAT_API_KEY: installation.apiKey }, folder);

describe('commands on keys', () => {
  it('list them without the keys themselves, and revoke one at once', async () => {
    const made = await installation.api.send('/api/keys', { method: 'POST', json: { name: 'ci', scopes: ['read'] } });
    const { id: keyId, key } = z.object({ data: z.object({ id: z.string(), key: z.string() }) }).parse(made.body).data;
    const { out } = await command('keys', 'list');
    expect(out).toMatch(new RegExp(`^${keyId} +mk_\\w{8}_… +read .* ci$`, 'm'));
    expect(out).not.toContain(key);
    expect((await command('keys', 'revoke', keyId)).exitCode).toBe(0);
    expect((await installation.api.send('/api/notifications', { key })).status).toBe(401);
  });
});

describe('a task on which nobody listens', () => {
  it('is answered with a warning, before its long code', async () => {
    const silent = { ...byHand(site.address('/shop')), name: 'Silent', evaluationFunction: 'return true', actions: [] };
    const { text } = await installation.api.send('/api/notifications', { method: 'POST', json: silent });
    expect(text).toMatch(
      /^\{"success":true,"data":\{"id":"ntf_\w+","warnings":\[\{"field":"actions","rule":"nobody_listens"/,
    );
    const made = z.object({ data: z.object({ id: z.string() }) }).parse(JSON.parse(text)).data;
    await installation.api.send(`/api/notifications/${made.id}`, { method: 'DELETE' });
  });
});

describe('a run on record that failed', () => {
  it('says what to do about it, in its own answer and in the list', async () => {
    const { id: task } = await installation.api.create({ ...byHand(site.address('/gone')), name: 'Gone' });
    const execution = await installation.api.execute(task);
    const one = await installation.api.send(`/api/executions/${execution.id}`);
    const list = await installation.api.send(`/api/notifications/${task}/executions`);
    const hinted = expect.objectContaining({
      reason: 'http_status',
      hint: expect.stringContaining('fetch.acceptStatus'),
    });
    expect(one.body).toMatchObject({ data: { error: hinted } });
    expect(list.body).toMatchObject({ data: [{ error: hinted }] });
    await installation.api.send(`/api/notifications/${task}`, { method: 'DELETE' });
  });
});

describe('commands on tasks', () => {
  it('run a task by its name, and show what came of it', async () => {
    const { exitCode, out } = await command('run', 'Kettle');
    expect([exitCode, out]).toEqual([
      0,
      expect.stringMatching(/^true {2}Kettle\n {2}value +value = 7\n {2}log +looked\n/),
    ]);
    expect(out).toContain(
      'not notified (no_actions): it would have told "triggered" (became_true), but no enabled action listens to that',
    );
  });

  it('show the last run, its value and its error in the list', async () => {
    const { out } = await command('tasks');
    const [head = '', row = ''] = out.split('\n');
    expect(head).toMatch(/last run +value +error +next run/);
    expect(row).toMatch(/true +ok +20\d\d-\S+Z +7 +– +– +Kettle/);
  });

  it('show the logs of the last runs', async () => {
    const { exitCode, out } = await command('logs', id, '--runs', '1');
    expect([exitCode, out]).toEqual([0, expect.stringContaining('looked')]);
    expect((await command('logs', id, '--runs', '1000')).exitCode).toBe(1);
  });

  it('pause and resume it, and say where it is shown', async () => {
    expect((await command('pause', 'Kettle')).out).toContain('paused');
    expect((await command('resume', id)).out).toContain('active');
    expect((await command('open', 'Kettle')).out.trim()).toBe(`${installation.url}/tasks/${id}`);
  });

  it('name what they do not find, and what is not clear', async () => {
    const { exitCode, error } = await command('run', 'Toaster');
    expect([exitCode, error]).toEqual([
      1,
      expect.stringContaining('No task has the id, external key or name Toaster.'),
    ]);
    const twin = await installation.api.create({ ...byHand(site.address('/shop')), name: 'Kettle' });
    expect((await command('run', 'Kettle')).error).toContain('2 tasks have the name Kettle; say which');
    await installation.api.send(`/api/notifications/${twin.id}`, { method: 'DELETE' });
  });

  it('check all of them, without sending, and end with 1 where one fails', async () => {
    expect((await command('check', '--all')).exitCode).toBe(0);
    const code = "return page.number(document.querySelector('.price')) < 40";
    const broken = await installation.api.create({
      ...byHand(site.address('/shop')),
      name: 'Toaster',
      evaluationFunction: code,
    });
    const { exitCode, out, error } = await command('check', '--all');
    expect([exitCode, out]).toEqual([1, expect.stringMatching(/failed +number_not_found +– +Toaster/)]);
    expect(error).toContain('found nothing: no element matches');
    expect(error).toContain('1 of 2 end with true or false.');
    const { out: json } = await command('check', '--all', '--json');
    expect(listed.parse(JSON.parse(json)).map(({ outcome }) => outcome)).toEqual([true, null]);
    await installation.api.send(`/api/notifications/${broken.id}`, { method: 'DELETE' });
    expect((await command('check')).exitCode).toBe(2);
  });
});
