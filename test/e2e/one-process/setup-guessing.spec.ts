/** The link that sets an instance up, guessed at by anybody who reaches it. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorOf, createApi, type Api, type Reply } from '../kit/api.js';
import { scratchFolder } from '../kit/installation.js';
import { startProduct, type Product } from '../kit/product.js';

const perMinute = 40;
const guesses = 200;

let folder: string;
let product: Product;
let api: Api;
let url: string;
let token: string;

beforeAll(async () => {
  folder = await scratchFolder();
  const settings = { DATA_DIR: join(folder, 'data'), PORT: '0', LOG_FORMAT: 'json' };
  product = startProduct({ ...settings, ANONYMOUS_PER_MINUTE: String(perMinute) }, folder);
  url = await product.ready();
  token = /\/setup#?\S*?([A-Za-z0-9_-]{32})/.exec(product.lines.join('\n'))?.[1] ?? '';
  api = createApi(() => url, '');
});
afterAll(async () => {
  product.signal('SIGKILL');
  await product.ended;
  await rm(folder, { recursive: true, force: true });
});

const guess = (setupToken: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
  api.send('/api/setup', {
    key: null,
    headers,
    json: { setupToken, organization: 'x', email: 'eve@example.com', password: 'correct horse battery staple' },
  });

/** As near to the token as one can come without it. */
function near(index: number): string {
  const at = index % token.length;
  return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
}

describe('the token of the setup link', () => {
  it('has more than a hundred bits', () => {
    expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/);
  });

  it('is guessed at no more often than one address may ask, whatever address it says it has', async () => {
    const replies = await Promise.all(
      Array.from({ length: guesses }, (_, index) =>
        guess(near(index), { 'x-forwarded-for': `198.51.100.${index}`, forwarded: `for=198.51.100.${index}` }),
      ),
    );
    const tried = replies.filter(({ status }) => status === 401);
    expect(tried.map((reply) => errorOf(reply).reason)).toEqual(tried.map(() => 'invalid_setup_token'));
    // A minute may end meanwhile.
    expect(tried.length).toBeLessThanOrEqual(2 * perMinute);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(guesses - tried.length);
    for (const reply of replies) expect(reply.text).not.toContain(token.slice(0, 8));
  });

  it('stands in no line but the one that prints it', () => {
    expect(product.lines.filter((line) => line.includes(token))).toHaveLength(1);
  });
});
