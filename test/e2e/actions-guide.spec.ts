/** Every action of docs/actions.md is sent as it stands, to receivers that check what the vendors document. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createInstallation } from './kit/create-installation.js';
import type { ReceivedHook } from './kit/hook-sink.js';
import type { Installation } from './kit/installation.js';
import { html } from './kit/page-site.js';
import { until } from './kit/until.js';
import { startWorld, type World } from './kit/watch.js';

const guide = new URL('../../docs/actions.md', import.meta.url);
/** A name with all that is special in JSON, in Markdown and to chat services. */
const hostileName = 'Kettle "of\\ the" <!channel> @everyone *day*';

const action = z.looseObject({ type: z.string(), config: z.record(z.string(), z.unknown()) });

/** What the vendors document, each for the path that its action is sent to here. */
const receivers: Readonly<Record<string, z.ZodType>> = {
  '/slack': z.strictObject({
    text: z.string().min(1).max(40_000),
    unfurl_links: z.literal(false),
    unfurl_media: z.literal(false),
    blocks: z.tuple([
      z.strictObject({
        type: z.literal('section'),
        text: z.strictObject({ type: z.literal('plain_text'), text: z.string().min(1).max(3_000) }),
      }),
      z.strictObject({
        type: z.literal('actions'),
        elements: z
          .array(
            z.strictObject({
              type: z.literal('button'),
              text: z.strictObject({ type: z.literal('plain_text'), text: z.string().max(75) }),
              url: z.url().max(3_000),
            }),
          )
          .min(1)
          .max(25),
      }),
    ]),
  }),
  '/discord': z.strictObject({
    content: z.string().min(1).max(2_000),
    allowed_mentions: z.strictObject({ parse: z.array(z.string()).length(0) }),
  }),
  '/teams': z.strictObject({
    type: z.literal('message'),
    attachments: z
      .array(
        z.strictObject({
          contentType: z.literal('application/vnd.microsoft.card.adaptive'),
          contentUrl: z.null(),
          content: z.strictObject({
            $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
            type: z.literal('AdaptiveCard'),
            version: z.string().regex(/^1\.[0-5]$/),
            body: z.array(
              z.looseObject({ type: z.literal('TextBlock'), text: z.string().min(1), wrap: z.literal(true) }),
            ),
            actions: z.array(z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url: z.url() })),
          }),
        }),
      )
      .length(1),
  }),
  '/telegram': z.strictObject({
    chat_id: z.string().regex(/^-?[0-9]+$/),
    text: z.string().min(1).max(4_096),
    link_preview_options: z.strictObject({ is_disabled: z.boolean() }),
  }),
  '/ntfy/': z.looseObject({
    topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/),
    message: z.string().min(1).max(4_096),
    title: z.string().min(1),
    tags: z.array(z.string()),
  }),
  '/pagerduty': z.strictObject({
    routing_key: z.string().length(32),
    event_action: z.enum(['trigger', 'resolve']),
    dedup_key: z.string().min(1).max(255),
    client: z.string(),
    client_url: z.url(),
    payload: z.strictObject({
      summary: z.string().min(1).max(1_024),
      source: z.string().min(1),
      severity: z.enum(['critical', 'error', 'warning', 'info']),
      timestamp: z.iso.datetime(),
    }),
  }),
  '/custom': z.strictObject({ message: z.string().min(1), see: z.url() }),
};

let world: World;
let installation: Installation;
let folder: string;
let text: string;

beforeAll(async () => {
  world = await startWorld();
  world.site.serve('/kettle', html('39,90 €'));
  folder = await mkdtemp(join(tmpdir(), 'meerkat-actions-guide-'));
  text = await readFile(guide, 'utf8');
  installation = await createInstallation({ smtpUrl: world.mails.url });
  await installation.start();
});

afterAll(async () => {
  await installation.remove();
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

const blocks = (language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, block]) => block ?? '');

/** The same action, sent to the receiver here instead of the vendor. */
function sentHere(block: string): unknown {
  const here = (path: string): string => world.hooks.address(path);
  return JSON.parse(
    block
      .replace(/https:\/\/hooks\.slack\.com\/[^"]+/, here('/slack'))
      .replace(/https:\/\/discord\.com\/[^"]+/, here('/discord'))
      .replace(/https:\/\/default00\.environment[^"]+/, here('/teams'))
      .replace(/https:\/\/api\.telegram\.org\/[^"]+/, here('/telegram'))
      .replace(/https:\/\/ntfy\.sh/, here('/ntfy'))
      .replace(/https:\/\/events\.pagerduty\.com\/[^"]+/, here('/pagerduty'))
      .replace('https://receiver.example.com/custom', here('/custom'))
      .replace('https://receiver.example.com/meerkat', here('/meerkat')),
  );
}

/** RFC 2047, the quoted form: words between which a space means nothing. */
function decodedHeader(header: string): string {
  return header
    .replace(/\?=\s+=\?UTF-8\?Q\?/gi, '')
    .replace(/^=\?UTF-8\?Q\?|\?=$/gi, '')
    .replaceAll('_', ' ')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

const secret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;

async function taskOf(actions: readonly unknown[]): Promise<string> {
  const task = await installation.api.create({
    name: hostileName,
    url: world.site.address('/kettle'),
    evaluationFunction: "page.report('value', page.number(document.querySelector('#stock'))); return true",
    schedule: { type: 'manual' },
    actions,
  });
  return task.id;
}

const arrived = (path: string): Promise<ReceivedHook> =>
  until(`a message is at ${path}`, () => world.hooks.received(path).at(-1) ?? false);

describe('the guide to actions', () => {
  it('has every action taken and sent as the vendors document it', async () => {
    const actions = blocks('json').map((block) => action.parse(sentHere(block)));
    expect(actions.map(({ type }) => type)).toEqual([
      'email',
      'webhook',
      'custom',
      'webhook',
      'webhook',
      'webhook',
      'webhook',
      'ntfy',
      'webhook',
    ]);
    const withSecret = actions.map((one, index) => (index === 1 ? { ...one, config: { ...one.config, secret } } : one));
    await installation.api.execute(await taskOf(withSecret), 30, { force: true });
    for (const [path, rules] of Object.entries(receivers)) {
      const { body, headers } = await arrived(path);
      expect([path, headers['content-type']]).toEqual([path, expect.stringContaining('application/json')]);
      const judged = rules.safeParse(JSON.parse(body));
      expect([path, judged.success ? [] : judged.error.issues]).toEqual([path, []]);
    }
    const mail = await until('the mail is there', () => world.mails.received.at(-1) ?? false);
    expect(decodedHeader(mail.subject)).toBe(`${hostileName}: 39.9`);
    expect(mail.text).toContain('/executions/exe_');
  });

  it('resolves at PagerDuty what is over', async () => {
    const block = blocks('json').at(-1) ?? '';
    world.site.serve('/kettle', html('39,90 €'));
    const task = await installation.api.create({
      name: 'Kettle',
      url: world.site.address('/kettle'),
      evaluationFunction: "return page.number(document.querySelector('#stock')) < 50",
      schedule: { type: 'manual' },
      actions: [sentHere(block)],
    });
    const eventOf = async (price: string): Promise<unknown> => {
      const before = world.hooks.received('/pagerduty').length;
      world.site.serve('/kettle', html(price));
      await installation.api.execute(task.id, 30);
      const hook = await until('PagerDuty is told', () => world.hooks.received('/pagerduty')[before] ?? false);
      const { event_action: what, dedup_key: key } = JSON.parse(hook.body) as Record<string, unknown>;
      return [what, key];
    };
    const key = `meerkat/${task.id}`;
    expect(await eventOf('39,90 €')).toEqual(['trigger', key]);
    expect(await eventOf('99,90 €')).toEqual(['resolve', key]);
  });

  it('names variables that there are, each with a value or nothing', async () => {
    const names = [...text.matchAll(/^\| `([a-z]+(?:\.\w+)?)` +\|/gm)].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(18);
    const body = names.map((name) => `${name}={{ ${name} }}`).join('\n');
    const config = { url: world.hooks.address('/variables'), headers: { 'Content-Type': 'text/plain' }, body };
    await installation.api.execute(await taskOf([{ type: 'webhook', config }]), 30, { force: true });
    const { body: sent } = await arrived('/variables');
    for (const name of names) {
      const isThere = new RegExp(`^${name.replace('.', '\\.')}=.+$`, 'm').test(sent);
      expect([name, isThere || /^(?:transition|hint$|task\.(?:description|tags))/.test(name)]).toEqual([name, true]);
    }
  });
});

/** Programs in languages that not every machine has. */
const languages = [
  { language: 'js', file: 'verify.mjs', run: [process.execPath], probe: [process.execPath, '--version'] },
  { language: 'python', file: 'verify.py', run: ['python3'], probe: ['python3', '--version'] },
  { language: 'go', file: 'verify.go', run: ['go', 'run'], probe: ['go', 'version'] },
  { language: 'java', file: 'Verify.java', run: ['java'], probe: ['java', '-version'] },
] as const;
const isThere = ([program, ...args]: readonly string[]): boolean => spawnSync(program ?? '', args).status === 0;
const present = languages.filter(({ probe }) => isThere(probe));

describe('a program of the guide that verifies signatures', () => {
  it.each(present)('in $language takes a message that was sent, and no other', async ({ language, file, run }) => {
    const [program = ''] = blocks(language);
    const place = join(folder, file);
    await writeFile(place, program);
    const { body, headers } = await arrived('/meerkat');
    const given = [headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature']].map(String);
    const [command, ...args] = [...run, place, secret, ...given];
    const statusFor = (input: string): number | null => spawnSync(command ?? '', args, { input }).status;
    expect([statusFor(body), statusFor(`${body} `)]).toEqual([0, 1]);
  });
});
