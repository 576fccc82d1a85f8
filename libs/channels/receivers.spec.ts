/** Every channel against its receiver, which takes what the vendor documents: each golden request, and whatever a page may say. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { JsonObject } from '#runtime/json';
import type { Channel, HttpOutgoing, Notification, Receipt } from './channel.js';
import { channels } from './channels.js';
import { declarations } from './declarations.js';
import { vendorTypes } from './every-channel.kit.js';
import { hostileText } from './dialects.kit.js';
import { aDigest, aNotification, kitTimeMs } from './notification.kit.js';
import { judge, type VendorReceiver, type VendorReply } from './receiver.kit.js';

const golden = z.looseObject({
  config: z.record(z.string(), z.json()),
  opened: z.record(z.string(), z.json()).optional(),
});

const vendors = declarations
  .map(({ type }) => type)
  .filter((type) => existsSync(new URL(`./${type}/receiver.kit.ts`, import.meta.url)));

function settingsOf(type: string): { config: JsonObject; opened: Receipt | null }[] {
  const folder = new URL(`./${type}/golden/`, import.meta.url);
  return readdirSync(folder)
    .filter((file) => file !== 'answers.json')
    .map((file) => {
      const { config, opened = null } = golden.parse(JSON.parse(readFileSync(new URL(file, folder), 'utf8')));
      return { config, opened };
    });
}

/** Whatever a page or a task may say, from nothing to far too much. */
const texts: readonly [string, string][] = [
  ['plain', 'The price is 12.50 €.'],
  ['hostile', hostileText],
  ['empty', ''],
  ['blank', ' \n\t \u200b'],
  ['long', 'Lorem ipsum dolor. '.repeat(2_000)],
  ['of astral characters', '😀'.repeat(17_000)],
  ['of ampersands', '&<>"\'\\*_`@'.repeat(4_000)],
  ['of umlauts', 'ä'.repeat(33_000)],
];

function notificationSaying(text: string, kind: Notification['kind'], episode = 'condition:1'): Notification {
  const { context } = aNotification();
  const options = {
    episode,
    context: {
      task: { ...context.task, name: text.slice(0, 200), description: text, tags: [text.slice(0, 50)] },
      execution: { ...context.execution, values: { value: text, [text.slice(0, 100)]: text, empty: '' } },
      message: text,
    },
  };
  return kind === 'digest' ? aDigest(options) : aNotification({ ...options, kind });
}

/** Each kind of message, and addresses of an instance that nobody else can reach. */
const ways = [
  ['triggered', 'https://meerkat.example'],
  ['recovered', 'https://meerkat.example'],
  ['error', 'http://127.0.0.1:3000'],
  ['test', 'http://localhost:3000'],
  ['digest', 'https://meerkat.example'],
] as const;

function replyBody({ body }: VendorReply): Buffer {
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** The smallest picture there is. */
const chart = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('a receiver', () => {
  it('is there for every channel whose vendor has laid down what it takes', () => {
    expect(vendors).toEqual(vendorTypes);
  });
});

describe.each(vendors)('the receiver of %s', (type) => {
  let receiver: VendorReceiver;
  const channel: Channel = channels[type];

  beforeAll(async () => {
    ({ receiver } = (await import(`./${type}/receiver.kit.js`)) as { receiver: VendorReceiver });
  });

  /** Sends a message request by request as the executor does; what the receiver found wrong. */
  const faultsOf = (
    request: Notification,
    config: JsonObject,
    opened: Receipt | null,
    linkBase: string,
    chart: Uint8Array | null = null,
  ): string[] => {
    if (channel.transport !== 'http') throw new Error(`${type} sends no requests`);
    const receipts: (Receipt | null)[] = [];
    const faults: string[] = [];
    const send = (outgoing: HttpOutgoing): Receipt | null => {
      const judgement = judge(receiver, outgoing);
      faults.push(...judgement.faults);
      const { status, headers = {} } = judgement.reply;
      const rest = { bodyCut: false, finalUrl: outgoing.url, redirects: 0, durationMs: 1 };
      const answer = { ok: true, status, headers, body: replyBody(judgement.reply), ...rest } as const;
      const verdict = channel.classify(answer, kitTimeMs, outgoing.step);
      if (verdict.state !== 'delivered') faults.push(`${verdict.reason}: ${verdict.message}`);
      return verdict.state === 'delivered' ? (verdict.receipt ?? null) : null;
    };
    for (let round = 0, rounds = 4; round < rounds; round += 1) {
      const context = { nowMs: kitTimeMs, linkBase, mailFrom: 'a@example.com', opened, chart, receipts: [...receipts] };
      const outgoing = channel.build({ request, config }, context);
      // An end without a beginning: there is nothing to say of it.
      if (outgoing.kind === 'none' && outgoing.verdict.reason === 'nothing_to_close' && opened === null) break;
      if (outgoing.kind !== 'http') return [`it built ${outgoing.kind}`, JSON.stringify(outgoing)];
      for (const one of outgoing.requests.slice(receipts.length)) {
        receipts.push(send(one));
        for (const other of [one.fallback, one.unless]) if (other !== undefined) send(other);
      }
      if (outgoing.more !== true) break;
      rounds = outgoing.rounds ?? rounds;
    }
    return faults;
  };

  it.each(texts)('takes every kind of message whose text is %s, and shows it as it stands', (_name, text) => {
    for (const { config, opened } of settingsOf(type)) {
      for (const [kind, linkBase] of ways) {
        const faults = faultsOf(notificationSaying(text, kind), config, opened, linkBase);
        expect({ kind, linkBase, faults }).toEqual({ kind, linkBase, faults: [] });
      }
    }
  });

  it.each(texts)('takes a picture with a message whose text is %s, and the message without it', (_name, text) => {
    for (const { config, opened } of settingsOf(type)) {
      for (const [kind, linkBase] of ways) {
        const faults = faultsOf(notificationSaying(text, kind), config, opened, linkBase, chart);
        expect({ kind, linkBase, faults }).toEqual({ kind, linkBase, faults: [] });
      }
    }
  });

  it('takes a message whose values are many', () => {
    const values = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`value ${index}`, hostileText]));
    const { context } = aNotification();
    const request = aNotification({ context: { execution: { ...context.execution, values } } });
    for (const { config, opened } of settingsOf(type)) {
      expect(faultsOf(request, config, opened, 'https://meerkat.example')).toEqual([]);
    }
  });
});
