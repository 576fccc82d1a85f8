import { describe, expect, it } from '@jest/globals';
import type { HttpBatch, HttpChannel, HttpOutgoing, Receipt } from '#channels/channel';
import { classifyHttp } from '#channels/http-answer';
import type { OutboundAnswer } from '#outbound/outbound';
import { httpTransmission, receiptsOf } from './http-transmission.js';
import { nothingSent } from './transmission.js';

const signal = new AbortController().signal;
const clock = { now: () => 0 };

const to = (path: string, more: Partial<HttpOutgoing> = {}): HttpOutgoing => ({
  method: 'POST',
  url: `https://receiver.example/${path}`,
  headers: {},
  body: null,
  timeoutMs: 100,
  ...more,
});

/** Answers by path; `200 x` is an answer with the receipt x. */
function tried(
  batch: HttpBatch,
  answers: Readonly<Record<string, string>>,
  {
    isRepeat = false,
    next = [],
  }: { isRepeat?: boolean; next?: readonly ((receipts: readonly (Receipt | null)[]) => HttpBatch)[] } = {},
) {
  const asked: string[] = [];
  const channel: HttpChannel = {
    transport: 'http',
    method: 'POST',
    build: () => batch,
    usesThread: false,
    classify(answer, nowMs) {
      const verdict = classifyHttp(answer, nowMs);
      const id = answer.ok ? Buffer.from(answer.body).toString() : '';
      return verdict.state === 'delivered' && id !== '' ? { ...verdict, receipt: { id } } : verdict;
    },
  };
  const rounds = [...next];
  const transmission = httpTransmission(
    channel,
    {
      clock,
      isRepeat,
      rebuild: async (receipts) => rounds.shift()?.(receipts) ?? { kind: 'http', requests: [] },
      outbound: {
        async request({ url }) {
          const path = new URL(url).pathname.slice(1);
          asked.push(path);
          const [status = '500', id = ''] = (answers[path] ?? '500').split(' ');
          const rest = { headers: {}, bodyCut: false, finalUrl: url, redirects: 0, durationMs: 1 };
          return { ok: true, status: Number(status), body: Buffer.from(id), ...rest } satisfies OutboundAnswer;
        },
      },
    },
    batch,
  );
  return { asked, transmission };
}

const batchOf = (requests: readonly HttpOutgoing[], more: Partial<HttpBatch> = {}): HttpBatch => ({
  kind: 'http',
  requests,
  ...more,
});

describe('the requests of a message', () => {
  it('are all sent, whatever became of those before', async () => {
    const { asked, transmission } = tried(batchOf([to('a'), to('b')]), { a: '400', b: '200' });
    const verdicts = await transmission.transmit([], signal);
    expect([asked, verdicts.map(({ verdict }) => verdict.state)]).toEqual([
      ['a', 'b'],
      ['refused', 'delivered'],
    ]);
  });

  it('in order stop at the first that did not arrive', async () => {
    const { asked, transmission } = tried(batchOf([to('a'), to('b')], { inOrder: true }), { a: '503', b: '200' });
    expect(await transmission.transmit([], signal)).toMatchObject([{ part: 0, verdict: { state: 'retry' } }]);
    expect(asked).toEqual(['a']);
  });

  it('go on with what they were given, without sending again what has arrived', async () => {
    const first = to('comment');
    const seen: (readonly (Receipt | null)[])[] = [];
    const next = [
      (receipts: readonly (Receipt | null)[]) => {
        seen.push(receipts);
        return batchOf([first, to('close')], { inOrder: true });
      },
    ];
    const { asked, transmission } = tried(
      batchOf([first], { more: true }),
      { comment: '200 c1', close: '200' },
      { next },
    );
    const verdicts = await transmission.transmit([], signal);
    expect([asked, seen, verdicts.length, transmission.parts()]).toEqual([
      ['comment', 'close'],
      [[{ id: 'c1' }]],
      2,
      2,
    ]);
  });
});

describe('a request with a fallback', () => {
  const request = to('picture', { fallback: to('plain') });

  it.each(['413', '400', '415'])('is replaced by it, once, where the receiver answers %s', async (status) => {
    const { asked, transmission } = tried(batchOf([request]), { picture: status, plain: '200 m1' });
    expect(await transmission.transmit([], signal)).toMatchObject([
      { part: 0, verdict: { state: 'delivered', receipt: { id: 'm1' } } },
    ]);
    expect(asked).toEqual(['picture', 'plain']);
  });

  it.each(['200', '429', '503'])('is not where it answers %s', async (status) => {
    const { asked, transmission } = tried(batchOf([request]), { picture: status });
    await transmission.transmit([], signal);
    expect(asked).toEqual(['picture']);
  });
});

describe('a request that clutters where it is repeated', () => {
  const request = to('create', { unless: to('search') });

  it.each<[string, boolean, string, readonly string[], Receipt | undefined]>([
    ['is sent without a search on the first try', false, '200 i7', ['create'], { id: 'i8' }],
    ['is not sent again where an earlier try is found', true, '200 i7', ['search'], { id: 'i7' }],
    ['is sent where none is found', true, '200', ['search', 'create'], { id: 'i8' }],
    ['is sent where nobody may search', true, '403', ['search', 'create'], { id: 'i8' }],
    ['waits while the search cannot be made', true, '503', ['search'], undefined],
  ])('%s', async (_rule, isRepeat, search, asked, receipt) => {
    const made = tried(batchOf([request]), { search, create: '201 i8' }, { isRepeat });
    const [part] = await made.transmission.transmit([], signal);
    expect(made.asked).toEqual(asked);
    expect(part?.verdict.state === 'delivered' ? part.verdict.receipt : undefined).toEqual(receipt);
  });
});

describe('what parts were given', () => {
  it('stands at their places, null where nothing was', () => {
    const settled = [
      { part: 2, refused: null, receipt: { id: 'c' } },
      { part: 0, refused: null },
    ];
    expect(receiptsOf(settled)).toEqual([null, null, { id: 'c' }]);
  });
});

describe('a message that cannot be made', () => {
  it('goes to no receiver and has one part', () => {
    const verdict = { state: 'refused', reason: 'config_invalid', message: 'No.' } as const;
    const sent = nothingSent({ kind: 'none', request: { method: 'POST', url: '' }, verdict });
    expect([sent.receiver, sent.parts()]).toEqual([null, 1]);
  });
});
