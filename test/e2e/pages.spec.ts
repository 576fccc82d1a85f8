/** The pages for people: from the link in a message through sign-in to what the run found, and out again. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createInstallation } from './kit/create-installation.js';
import { verified } from './kit/hook-sink.js';
import { ownerEmail, ownerPassword } from './kit/installation.js';
import { secret, startWorld, Watch, type World } from './kit/watch.js';

let world: World;
let watch: Watch;

beforeAll(async () => {
  world = await startWorld();
  watch = new Watch(await createInstallation({ smtpUrl: world.mails.url }), world, 'pages');
  await watch.installation.start();
  await watch.create();
});

afterAll(async () => {
  await watch.installation.remove();
  await world.close();
});

interface Page {
  readonly status: number;
  readonly location: string | null;
  readonly cookie: string;
  readonly text: string;
}

async function open(path: string, { cookie, form }: { cookie?: string; form?: object } = {}): Promise<Page> {
  const { url } = watch.installation;
  const response = await fetch(new URL(path, url), {
    method: form === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'text/html',
      ...(cookie === undefined ? {} : { cookie }),
      ...(form === undefined ? {} : { origin: new URL(url).origin }),
    },
    ...(form === undefined ? {} : { body: new URLSearchParams(Object.entries(form)) }),
    redirect: 'manual',
  });
  const { status, headers } = response;
  const text = await response.text();
  return {
    status,
    location: headers.get('location'),
    cookie: (headers.get('set-cookie') ?? '').split(';')[0] ?? '',
    text,
  };
}

describe('the link of a message', () => {
  it('leads through sign-in to the run, with what was found, decided and sent', async () => {
    const run = await watch.seen(true);
    await watch.told(1);
    const [hook] = watch.hooks();
    if (hook === undefined) throw new Error('nothing came');
    const links = verified(hook, secret).data['links'] as Record<string, string>;
    const { pathname } = new URL(links['execution'] ?? '');
    expect(pathname).toBe(`/executions/${run.id}`);

    const refused = await open(pathname);
    expect([refused.status, refused.location]).toEqual([303, `/sign-in?to=${encodeURIComponent(pathname)}`]);
    const form = await open(refused.location ?? '');
    expect(form.text).toContain(`value="${pathname}"`);
    const wrong = await open('/sign-in', { form: { email: ownerEmail, password: 'not the password', to: pathname } });
    expect([wrong.status, wrong.cookie]).toEqual([401, '']);
    expect(wrong.text).toContain('role="alert"');
    const signedIn = await open('/sign-in', { form: { email: ownerEmail, password: ownerPassword, to: pathname } });
    expect([signedIn.status, signedIn.location]).toEqual([303, pathname]);

    const { cookie } = signedIn;
    const page = await open(pathname, { cookie });
    expect(page.status).toBe(200);
    for (const part of ['Stock', 'became true', 'delivered', 'webhook', 'confirmations', run.page?.finalUrl ?? '?']) {
      expect(page.text).toContain(part);
    }
    expect(page.text).toContain(`href="/tasks/${watch.taskId}"`);
    const task = await open(`/tasks/${watch.taskId}`, { cookie });
    expect(task.text).toContain(`href="/executions/${run.id}"`);
    expect((await open(`/api/executions/${run.id}/snapshot`, { cookie })).status).toBe(200);

    const home = await open('/', { cookie });
    expect([home.status, home.location]).toEqual([303, '/tasks']);
    expect((await open('/tasks', { cookie })).text).toContain(`href="/tasks/${watch.taskId}"`);

    const out = await open('/sign-out', { cookie, form: {} });
    expect([out.status, out.location]).toEqual([303, '/sign-in']);
    expect((await open(pathname, { cookie })).status).toBe(303);
  });
});

describe('the setup page', () => {
  it('leads to sign-in once the instance is set up', async () => {
    const after = await open('/setup');
    expect([after.status, after.location]).toEqual([303, '/sign-in']);
    expect((await open('/')).text).toContain('href="/tasks"');
  });
});
