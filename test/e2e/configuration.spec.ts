/** Configuration as code: a file that is exported, edited, compared and applied by the command line of the built product. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { runCommand } from './kit/command-line.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';

const tasks = z.object({ data: z.array(z.looseObject({ externalKey: z.string().nullable(), name: z.string() })) });

let installation: Installation;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-configuration-'));
  installation = await createInstallation();
  await installation.start();
});

afterAll(async () => {
  await installation.remove();
  await rm(folder, { recursive: true });
});

const meerkat = (words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  runCommand(words, { MEERKAT_URL: installation.url, MEERKAT_API_KEY: installation.apiKey, ...more }, folder);

const file = (text: string): Promise<void> => writeFile(join(folder, 'meerkat.yaml'), text);

const watched = `version: 1
notifications:
  - externalKey: kettle
    name: Kettle of ${'${TEAM}'}
    url: https://shop.example/kettle
    evaluationFunction: |
      const price = document.querySelector('.price');
      return page.number(price) < 40;
    schedule: { type: cron, cron: "0 9 * * 1-5", timezone: Europe/Berlin }
    actions:
      - type: webhook
        config: { url: "https://hooks.example/${'${TOKEN}'}" }
  - externalKey: pot
    name: Pot
    url: https://shop.example/pot
    evaluationFunction: return false
    policy: { dependsOn: [kettle], confirmations: 2 }
`;
const variables = { TEAM: 'red', TOKEN: 't-1' };

describe('a configuration file', () => {
  it('is compared, applied and exported by the command line, and the same again changes nothing', async () => {
    await file(watched);
    const missing = await meerkat(['apply', 'meerkat.yaml']);
    expect(missing).toMatchObject({ exitCode: 1, out: '' });
    expect(missing.error).toContain('TEAM');
    const before = await meerkat(['diff', 'meerkat.yaml'], variables);
    expect(before.exitCode).toBe(1);
    expect(before.out).toContain('+ kettle');
    const applied = await meerkat(['apply', 'meerkat.yaml'], variables);
    expect(applied.exitCode).toBe(0);
    const { data } = tasks.parse((await installation.api.send('/api/notifications')).body);
    expect(data.map(({ externalKey, name }) => `${externalKey}: ${name}`).toSorted()).toEqual([
      'kettle: Kettle of red',
      'pot: Pot',
    ]);
    expect(await meerkat(['diff', 'meerkat.yaml'], variables)).toMatchObject({ exitCode: 0, out: '' });
    expect((await meerkat(['export', '--out', 'exported.yaml'])).exitCode).toBe(0);
    const text = await readFile(join(folder, 'exported.yaml'), 'utf8');
    expect(text).toContain("const price = document.querySelector('.price');\n");
    expect(text).not.toMatch(/whsec_/);
    expect(await meerkat(['diff', 'exported.yaml'])).toMatchObject({ exitCode: 0, out: '' });
  });

  it('is refused with its name, each of its faults and where they are', async () => {
    await file(
      `version: 1\nnotifications:\n  - externalKey: a\n    nmae: A\n    schedule: { type: interval, intervalSeconds: 1 }\n`,
    );
    const { exitCode, error } = await meerkat(['apply', 'meerkat.yaml']);
    expect(exitCode).toBe(1);
    expect(error).toContain('notifications[0].nmae is not a field; perhaps name is meant');
    expect(error).toContain('\n  notifications[0].evaluationFunction is required');
    await file('version: 1\nnotifications: [\n');
    expect((await meerkat(['apply', 'meerkat.yaml'])).error).toMatch(
      /^meerkat\.yaml is not YAML: .+ \(line 3, column 1\)/,
    );
  });

  it('that changes says field by field what it would do, and archives only when asked', async () => {
    await file(
      watched
        .replace('name: Pot', 'name: Big pot')
        .replace(/ {2}- externalKey: kettle[^]*?(?= {2}- externalKey: pot)/, '')
        .replace('dependsOn: [kettle], ', ''),
    );
    const { exitCode, out } = await meerkat(['diff', 'meerkat.yaml', '--archive-missing'], variables);
    expect(exitCode).toBe(1);
    expect(out).toContain('~ pot');
    expect(out).toContain('name: "Pot" → "Big pot"');
    expect(out).toContain('- kettle');
    const applied = await meerkat(['apply', 'meerkat.yaml', '--json'], variables);
    expect(JSON.parse(applied.out)).toMatchObject({ update: [{ externalKey: 'pot' }], archive: [] });
    await meerkat(['apply', 'meerkat.yaml', '--archive-missing'], variables);
    const { data } = tasks.parse((await installation.api.send('/api/notifications')).body);
    expect(data.map(({ name }) => name)).toEqual(['Big pot']);
  });

  it('that was applied outlives a kill, and one with a fault changes nothing', async () => {
    await file(watched);
    await meerkat(['apply', 'meerkat.yaml'], variables);
    await installation.kill('SIGKILL');
    await installation.start();
    expect((await meerkat(['diff', 'meerkat.yaml'], variables)).exitCode).toBe(0);
    await file(
      `${watched}  - { externalKey: bad, name: Bad, url: "https://x.example/", evaluationFunction: "syntax(" }\n`.replace(
        'Pot',
        'Pan',
      ),
    );
    const refused = await meerkat(['apply', 'meerkat.yaml'], variables);
    expect(refused.exitCode).toBe(1);
    expect(refused.error).toContain('notifications[2].evaluationFunction');
    const { data } = tasks.parse((await installation.api.send('/api/notifications')).body);
    expect(data.map(({ name }) => name).toSorted()).toEqual(['Kettle of red', 'Pot']);
  });

  it('brings contacts, and tasks that go by them, without a secret in clear', async () => {
    const secret = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;
    const contacts = (path: string): string => `version: 1
contacts:
  - { name: crew, type: webhook, config: { url: "https://hooks.example/${path}", secret: "${'${SECRET}'}" } }
notifications:
  - externalKey: crewed
    name: Crewed
    url: https://shop.example/crewed
    evaluationFunction: return false
    actions: [{ contact: crew }]
`;
    const withSecret = { SECRET: secret };
    await file(contacts('crew'));
    const before = await meerkat(['diff', 'meerkat.yaml'], withSecret);
    expect([before.exitCode, before.out.split('\n').slice(0, 2)]).toEqual([1, ['+ contact crew', '+ crewed']]);
    expect((await installation.api.send('/api/contacts/crew')).status).toBe(404);
    expect((await meerkat(['apply', 'meerkat.yaml'], withSecret)).exitCode).toBe(0);
    expect(await meerkat(['diff', 'meerkat.yaml'], withSecret)).toMatchObject({ exitCode: 0, out: '' });

    await file(contacts('team'));
    const changed = await meerkat(['diff', 'meerkat.yaml'], withSecret);
    expect([changed.exitCode, changed.out]).toEqual([1, '~ contact crew\n    config.url: changed (secret)\n']);
    await meerkat(['apply', 'meerkat.yaml'], withSecret);
    await meerkat(['export', '--out', 'exported.yaml']);
    const text = await readFile(join(folder, 'exported.yaml'), 'utf8');
    expect(text).toContain('https://hooks.example/team');
    expect(text + changed.out).not.toContain(secret);
    expect(await meerkat(['diff', 'exported.yaml'])).toMatchObject({ exitCode: 0, out: '' });

    await file(contacts('team').replace('{ contact: crew }', '{ contact: nobody }'));
    const refused = await meerkat(['apply', 'meerkat.yaml'], withSecret);
    expect(refused.error).toContain('notifications[0].actions[0].contact');
  });

  it('fills in no variable that a user wrote into a task or a contact, and gives back what is stored', async () => {
    const environment = { DEPLOY_SECRET: 'hunter2' };
    const { api } = installation;
    const texts = [
      'of ${DEPLOY_SECRET}',
      '$${DEPLOY_SECRET} and $$${DEPLOY_SECRET}',
      'not set: ${NOBODY_SET_THIS}, no name: ${} ${1} $',
    ];
    for (const text of texts) {
      const written = await api.send('/api/notifications', {
        json: {
          name: text,
          url: `https://shop.example/?of=${text.replaceAll(' ', '')}`,
          evaluationFunction: 'return `${document.title}` === `$${1}`',
          actions: [{ type: 'webhook', config: { url: `https://hooks.example/${text.replaceAll(' ', '')}` } }],
        },
      });
      expect(written.status).toBe(201);
    }
    const crew = { name: 'literal', type: 'webhook', config: { url: 'https://hooks.example/${DEPLOY_SECRET}' } };
    expect((await api.send('/api/contacts', { json: crew })).status).toBe(201);
    const stored = (await api.send('/api/export')).body;

    const yaml = await api.send('/api/export', { headers: { accept: 'application/yaml' } });
    await writeFile(join(folder, 'http.yaml'), yaml.text);
    await meerkat(['export', '--out', 'exported.yaml']);
    await meerkat(['export', '--format', 'json', '--out', 'exported.json']);
    for (const name of ['exported.yaml', 'exported.json', 'http.yaml']) {
      expect(await meerkat(['diff', name], environment)).toMatchObject({ exitCode: 0, out: '' });
      const applied = await meerkat(['apply', name, '--json'], environment);
      expect(JSON.parse(applied.out)).toMatchObject({ create: [], update: [], contacts: { create: [], update: [] } });
      expect(applied.out + applied.error).not.toContain('hunter2');
    }
    const { data } = z.object({ data: z.json() }).parse(stored);
    const put = await api.send('/api/apply', { method: 'PUT', json: data });
    expect(put.body).toMatchObject({ data: { create: [], update: [] } });
    expect((await api.send('/api/export')).body).toEqual(stored);
    expect(JSON.stringify(stored)).not.toContain('hunter2');
    expect(JSON.stringify(stored)).toContain('of ${DEPLOY_SECRET}');
  });
});
