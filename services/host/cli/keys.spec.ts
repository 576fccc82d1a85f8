import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { call } from '../cli.kit.js';

const environment = { ...process.env };
afterEach(() => {
  process.env = { ...environment };
});

describe('the command keys list', () => {
  it('shows how long each key is good, when it was used last and from where it may be', async () => {
    const key = {
      id: 'key_1',
      publicId: 'Ab3dEf9h',
      name: 'ci',
      scopes: ['read'],
      createdAt: '2026-01-01T00:00:00.000Z',
    };
    const past = {
      expiresAt: '2026-02-01T00:00:00.000Z',
      lastUsedAt: '2026-01-31T00:00:00.000Z',
      allowedCidrs: ['10.0.0.0/8', '192.0.2.1'],
    };
    const free = { expiresAt: null, lastUsedAt: null, allowedCidrs: [] };
    const future = { ...free, expiresAt: '9026-02-01T00:00:00.000Z' };
    const data = [past, free, future].map((more) => ({ ...key, ...more }));
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data, pagination: { pages: 1 } }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    process.env['MEERKAT_URL'] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    process.env['MEERKAT_API_KEY'] = 'mk_a';
    try {
      const [head = '', ...rows] = (await call('keys', 'list')).out.trimEnd().split('\n');
      expect(head.split(/ {2,}/)).toEqual([
        'id',
        'key',
        'scopes',
        'made',
        'by',
        'expires',
        'last used',
        'networks',
        'name',
      ]);
      expect(rows.map((row) => row.split(/ {2,}/).slice(5, 8))).toEqual([
        [`${past.expiresAt} (expired)`, past.lastUsedAt, '10.0.0.0/8,192.0.2.1'],
        ['–', '–', '–'],
        [future.expiresAt, '–', '–'],
      ]);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
