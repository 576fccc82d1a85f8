import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fastify, type FastifyInstance } from 'fastify';
import { compressAnswers } from './compression.js';

const long = JSON.stringify({ data: Array.from({ length: 500 }, (_, n) => ({ id: n, name: 'a task' })) });
/** Too long to be compressed in one go. */
const longer = JSON.stringify({ data: Array.from({ length: 5_000 }, (_, n) => ({ id: n, name: 'a task' })) });
const short = JSON.stringify({ data: [] });

describe('an answer', () => {
  let server: FastifyInstance;
  beforeEach(async () => {
    server = fastify();
    await compressAnswers(server);
    for (const [path, type, text] of [
      ['/long', 'application/json; charset=utf-8', long],
      ['/longer', 'application/json; charset=utf-8', longer],
      ['/short', 'application/json; charset=utf-8', short],
      ['/lines', 'application/x-ndjson', long],
      ['/events', 'text/event-stream', long],
      ['/picture', 'image/png', long],
    ] as const)
      server.get(path, (_request, reply) => reply.header('etag', '"7"').type(type).send(text));
  });
  afterEach(() => server.close());

  const get = (url: string, headers: Record<string, string>) => server.inject({ method: 'GET', url, headers });

  it.each([
    ['br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip;q=0.5, br;q=0', 'gzip', gunzipSync],
  ] as const)('of some size is compressed for who accepts %s, as %s', async (accepted, encoding, decompress) => {
    const answer = await get('/long', { 'accept-encoding': accepted });
    expect(answer.headers).toMatchObject({ 'content-encoding': encoding, vary: 'accept-encoding', etag: '"7"' });
    expect(decompress(answer.rawPayload).toString()).toBe(long);
    expect(answer.rawPayload.length).toBeLessThan(long.length / 5);
  });

  it('of more size is compressed as well', async () => {
    const answer = await get('/longer', { 'accept-encoding': 'br' });
    expect(brotliDecompressSync(answer.rawPayload).toString()).toBe(longer);
    expect(answer.rawPayload.length).toBeLessThan(longer.length / 5);
  });

  it.each(['same-origin', 'none'])('is compressed for the console and who types its address (%s)', async (site) => {
    const answer = await get('/long', { 'accept-encoding': 'br', 'sec-fetch-site': site });
    expect(answer.headers['content-encoding']).toBe('br');
  });

  it('to HEAD has no body, and the state of the resource as GET has it', async () => {
    const answer = await server.inject({ method: 'HEAD', url: '/long', headers: { 'accept-encoding': 'gzip' } });
    expect([answer.statusCode, answer.rawPayload.length, answer.headers.etag]).toEqual([200, 0, '"7"']);
  });

  it.each([
    ['asks for nothing of the kind', '/long', {}],
    ['refuses it', '/long', { 'accept-encoding': 'identity' }],
    ['knows only what we do not', '/long', { 'accept-encoding': 'compress' }],
    ['gets a short one', '/short', { 'accept-encoding': 'gzip' }],
    ['follows lines as they come', '/lines', { 'accept-encoding': 'gzip' }],
    ['follows events as they come', '/events', { 'accept-encoding': 'gzip' }],
    ['looks at a picture', '/picture', { 'accept-encoding': 'gzip' }],
    ['is a page of another site', '/long', { 'accept-encoding': 'gzip', 'sec-fetch-site': 'cross-site' }],
    ['is a page of a sibling domain', '/long', { 'accept-encoding': 'gzip', 'sec-fetch-site': 'same-site' }],
  ])('stays as it is for a client that %s', async (_who, url, headers) => {
    const answer = await get(url, headers);
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.headers['content-length']).toBe(String(answer.rawPayload.length));
    expect(answer.payload).toBe(url === '/short' ? short : long);
  });
});
