/** The contract suite of channels: each folder's `golden/` says which requests it builds and what answers mean to it. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Channel, HttpAnswer, Verdict } from './channel.js';
import { channels } from './channels.js';
import { declarations } from './declarations.js';
import { aNotification, kitTimeMs } from './notification.kit.js';

const folder = (type: string): URL => new URL(`./${type}/`, import.meta.url);

const goldenRequest = z.strictObject({
  config: z.record(z.string(), z.json()),
  kind: z.enum(['triggered', 'recovered', 'error', 'test']).default('triggered'),
  message: z.string().optional(),
  values: z.record(z.string(), z.json()).optional(),
  /** What the first message of the episode was given, and what the parts of this one were given so far. */
  opened: z.record(z.string(), z.json()).optional(),
  receipts: z.array(z.record(z.string(), z.json()).nullable()).optional(),
  /** Members of the body or the query that are made anew at each attempt: signatures and what they sign. */
  anew: z.array(z.string()).optional(),
  /** What the code of the action returned, for a channel that runs code first. */
  returned: z.json().optional(),
  outgoing: z.record(z.string(), z.json()),
});
type GoldenRequest = z.output<typeof goldenRequest>;

const goldenAnswers = z.array(
  z.strictObject({
    /** An answer with its status, or why there is none. */
    answer: z.union([
      z.strictObject({
        /** Of the request that was answered. */
        step: z.string().optional(),
        status: z.int(),
        headers: z.record(z.string(), z.string()).default({}),
        body: z.union([z.string(), z.record(z.string(), z.json())]).default(''),
      }),
      z.strictObject({ reason: z.enum(['timed_out', 'address_denied', 'too_large', 'tls_failed']) }),
      z.strictObject({ kind: z.enum(['taken', 'not_taken']) }).catchall(z.json()),
      /** How it ended, of what speaks neither HTTP nor mail. */
      z.strictObject({ code: z.union([z.string(), z.number()]) }),
    ]),
    verdict: z.record(z.string(), z.json()),
  }),
);
type GoldenAnswer = z.output<typeof goldenAnswers>[number]['answer'];

function goldenOf(type: string): {
  requests: [name: string, GoldenRequest][];
  answers: z.output<typeof goldenAnswers>;
} {
  const golden = new URL('golden/', folder(type));
  const parsed = (file: string): unknown => JSON.parse(readFileSync(new URL(file, golden), 'utf8'));
  const requests = readdirSync(golden).filter((file) => file !== 'answers.json');
  return {
    requests: requests.map((file) => [file, goldenRequest.parse(parsed(file))]),
    answers: goldenAnswers.parse(parsed('answers.json')),
  };
}

const mailFrom = 'Meerkat <watch@example.com>';

function built(channel: Channel, golden: GoldenRequest, nowMs: number) {
  const { config, kind, message, values, opened = null, receipts = [], returned = null } = golden;
  const plain = aNotification();
  const { execution } = plain.context;
  const context = {
    ...plain.context,
    ...(message === undefined ? {} : { message }),
    ...(values === undefined ? {} : { execution: { ...execution, values } }),
  };
  const request = { ...plain, kind, context };
  const linkBase = 'https://meerkat.example';
  const outgoing = channel.build({ request, config }, { nowMs, linkBase, mailFrom, opened, receipts });
  return outgoing.kind === 'script' ? outgoing.finish({ ok: true, value: returned, logs: [] }) : outgoing;
}

function answered(golden: Exclude<GoldenAnswer, { kind: unknown } | { code: unknown }>): HttpAnswer {
  if ('reason' in golden)
    return { ok: false, reason: golden.reason, message: 'No answer.', sent: false, durationMs: 1 };
  const { status, headers, body } = golden;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const rest = { bodyCut: false, finalUrl: 'https://receiver.example/', redirects: 0, durationMs: 1 };
  return { ok: true, status, headers, body: Buffer.from(text), ...rest };
}

const mailAnswer = z.custom<Parameters<Extract<Channel, { transport: 'smtp' }>['classify']>[0]>();

const peerAnswer = z.union([
  z.strictObject({ code: z.union([z.string(), z.number()]) }),
  z.strictObject({ reason: z.string() }),
]);

function verdictOn(channel: Channel, golden: GoldenAnswer): Verdict | undefined {
  if (channel.transport === 'smtp') {
    const recipients = [{ part: 0, address: 'anna@example.com' }];
    return channel.classify(mailAnswer.parse(golden), recipients)[0]?.verdict;
  }
  if (channel.transport === 'peer') {
    const answer = peerAnswer.parse(golden);
    return channel.classify(
      'code' in answer
        ? { ok: true, ...answer, text: '' }
        : { ok: false, ...answer, message: 'No answer.', sent: false },
    );
  }
  if ('code' in golden) throw new Error('an answer of something else to an HTTP request');
  if ('kind' in golden) throw new Error('an answer of a mail server to an HTTP request');
  return channel.classify(answered(golden), kitTimeMs, 'step' in golden ? golden.step : undefined);
}

describe.each(declarations.map((declaration) => [declaration.type, declaration] as const))(
  'the channel %s',
  (type, { config, sealed }) => {
    const channel = channels[type];
    const { requests, answers } = goldenOf(type);

    it.each(requests)('builds the outgoing message of golden/%s', (_file, golden) => {
      expect(config.safeParse(golden.config)).toMatchObject({ success: true });
      expect(built(channel, golden, kitTimeMs)).toEqual(golden.outgoing);
    });

    it.each(requests)('sends the same content on every try of golden/%s', (_file, golden) => {
      const content = (nowMs: number): unknown => {
        const outgoing = built(channel, golden, nowMs);
        return outgoing.kind === 'http' ? outgoing.requests.map(({ url, body }) => ({ url, body })) : outgoing;
      };
      const [first, later] = [content(kitTimeMs), content(kitTimeMs + 3_600_000)].map((made) => JSON.stringify(made));
      const { anew = [] } = golden;
      const without = (made = ''): string =>
        anew.reduce(
          (text, name) =>
            text.replaceAll(new RegExp(`(\\\\?"${name}\\\\?":\\\\?"|[?&]${name}=)[^"&\\\\]+`, 'g'), '$1…'),
          made,
        );
      expect(without(later)).toEqual(without(first));
      expect(later === first).toBe(anew.length === 0);
    });

    it.each(answers)('classifies $answer', ({ answer, verdict }) => {
      expect(verdictOn(channel, answer)).toMatchObject(verdict);
    });

    it('rejects settings that it cannot use', () => {
      const outgoing = built(channel, { config: {}, kind: 'triggered', outgoing: {} }, kitTimeMs);
      expect(outgoing).toMatchObject({ kind: 'none', verdict: { state: 'refused', reason: 'config_invalid' } });
    });

    it('stores no secret in clear', () => {
      const { properties = {} } = z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' });
      const secret = (schema: unknown): boolean => JSON.stringify(schema).includes('"writeOnly":true');
      for (const [name, schema] of Object.entries(properties)) {
        if (secret(schema)) expect(sealed.map((path) => path.split(/[.[]/)[0])).toContain(name);
      }
    });

    it('has a README with a table of answers', () => {
      expect(readFileSync(new URL('README.md', folder(type)), 'utf8')).toMatch(/^\| *answer *\|/m);
    });
  },
);
