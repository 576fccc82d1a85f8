import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { command } from '#channels/command/build';
import { hostileText } from '#channels/dialects.kit';
import { aNotification, kitTimeMs, type KitNotification } from '#channels/notification.kit';
import type { CommandMessage } from '#channels/peer';
import { until } from '../../../test/e2e/kit/until.js';
import { createCommands } from './command.js';

const signal = new AbortController().signal;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-command-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function program(name: string, script: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

function messageFor(file: string, more: object = {}, options: KitNotification = {}): CommandMessage {
  const built = command.build(
    { request: aNotification(options), config: { file, ...more } },
    { nowMs: kitTimeMs, linkBase: 'https://meerkat.example', mailFrom: 'a@example.com' },
  );
  if (built.kind !== 'peer' || built.message.protocol !== 'command') throw new Error(`built ${built.kind}`);
  return built.message;
}

/** Linux: gone, or waiting for nothing but to be counted. */
async function hasEnded(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '0 (gone) Z');
  return /\) [ZX]/.test(stat);
}

const run = (message: CommandMessage) => createCommands([message.file])(message, signal);

describe('a program', () => {
  it('gets the message by its environment and its input, with secrets, and nothing of this process', async () => {
    process.env['MEERKAT_CANARY'] = 'canary';
    const out = join(folder, 'seen');
    const file = await program(
      'see',
      `{ printf '%s\\n' "$MEERKAT_KIND" "$MEERKAT_TEXT" "$TOKEN" "$1"; env; cat; } > ${out}`,
    );
    const answer = await run(
      messageFor(file, { env: { TOKEN: 's3cret' }, args: ['--now {{ message }}'], text: '{{ message }}' }),
    );
    delete process.env['MEERKAT_CANARY'];
    expect(answer).toEqual({ ok: true, code: 0, text: '' });
    const seen = await readFile(out, 'utf8');
    expect(seen.split('\n').slice(0, 4)).toEqual([
      'triggered',
      'The condition of “Price watch” became true.',
      's3cret',
      '--now {{ message }}',
    ]);
    expect(seen).not.toContain('canary');
    expect(JSON.parse(seen.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ type: 'notification.triggered' });
  });

  it('gets what a page says as values alone: no shell reads them', async () => {
    const out = join(folder, 'hostile');
    const file = await program('hostile', `printf '%s' "$MEERKAT_TEXT" > ${out}`);
    const message = `$(touch ${folder}/pwned) \`touch ${folder}/pwned\` ; ${hostileText}`;
    const { context } = aNotification();
    await run(messageFor(file, { text: '{{ message }}' }, { context: { ...context, message } }));
    expect(await readFile(out, 'utf8')).toContain('$(touch');
    await expect(readFile(`${folder}/pwned`)).rejects.toThrow('ENOENT');
  });

  it.each([
    [0, 'delivered'],
    [75, 'retry'],
    [1, 'refused'],
  ])('that ends with %i means %s', async (status, state) => {
    const file = await program(`exit${status}`, `echo said; exit ${status}`);
    const answer = await run(messageFor(file));
    expect(answer).toEqual({ ok: true, code: status, text: 'said\n' });
    expect(command.classify(answer)).toMatchObject({ state, response: { status, body: 'said\n' } });
  });

  it('that does not read its input is none the worse for it', async () => {
    const file = await program('deaf', 'exec <&-; exit 0');
    const { context } = aNotification();
    const execution = { ...context.execution, values: { value: 'x'.repeat(500_000) } };
    expect(await run(messageFor(file, {}, { context: { ...context, execution } }))).toMatchObject({
      ok: true,
      code: 0,
    });
  });

  it('that goes on too long is ended with whatever it started', async () => {
    const out = join(folder, 'child');
    const file = await program('slow', `sleep 600 & echo $! > ${out}; wait`);
    const answer = await run({ ...messageFor(file), timeoutMs: 500 });
    expect(answer).toMatchObject({ ok: false, reason: 'timed_out' });
    const child = Number(await readFile(out, 'utf8'));
    await until('what it started has ended', async () => hasEnded(child));
  });

  it('that is not there, or that the operator does not name, is not run', async () => {
    const missing = await run(messageFor(join(folder, 'none')));
    expect(missing).toMatchObject({ ok: true, code: 'ENOENT' });
    const file = await program('other', 'exit 0');
    const answer = await createCommands([])(messageFor(file), signal);
    expect(answer).toMatchObject({ ok: true, code: 'not_allowed' });
    for (const one of [missing, answer])
      expect(command.classify(one)).toMatchObject({ state: 'refused', reason: 'gone' });
  });
});
