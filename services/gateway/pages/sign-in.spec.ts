import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GatewayKit } from '../gateway.kit.js';
import { openGateway, type OpenedGateway } from '../opened-gateway.kit.js';
import { pathWithin } from './sign-in.controller.js';

let opened: OpenedGateway;
let gateway: GatewayKit;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
});

afterAll(() => opened.close());

const form = { 'content-type': 'application/x-www-form-urlencoded' };

describe('the way back from sign-in', () => {
  it.each([
    ['/executions/exe_1?tab=logs', '/executions/exe_1?tab=logs'],
    ['/tasks', '/tasks'],
    ['', '/tasks'],
    ['tasks', '/tasks'],
    ['//evil.example/', '/tasks'],
    ['/\\evil.example/', '/tasks'],
    ['/\t/evil.example/', '/tasks'],
    ['/..//evil.example/', '/tasks'],
    ['/%2e%2e//evil.example', '/tasks'],
    ['https://evil.example/', '/tasks'],
    ['javascript:alert(1)', '/tasks'],
    ['/a\r\nset-cookie: x=y', '/tasks'],
  ])('asked for as %j leads to %j', (asked, path) => {
    expect(pathWithin(asked)).toBe(path);
  });
});

describe('a form', () => {
  it('is not taken from a page of another site', async () => {
    for (const origin of ['https://evil.example', 'null']) {
      for (const path of ['/sign-in', '/sign-out']) {
        const headers = { ...form, origin, accept: 'text/html' };
        const reply = await gateway.send('POST', path, { key: null, body: 'email=a&password=b', headers });
        expect(reply.status).toBe(403);
        expect(reply.headers.get('content-type')).toContain('text/html');
      }
    }
  });

  it('is taken as a form alone, and no other operation takes one', async () => {
    const json = await gateway.send('POST', '/sign-in', { key: null, body: { email: 'a', password: 'b' } });
    expect(json.status).toBe(415);
    const body = 'name=a';
    expect((await gateway.send('POST', '/api/notifications', { body, headers: form })).status).toBe(415);
  });

  it('that is not whole is said on a page', async () => {
    const origin = new URL(gateway.url).origin;
    const reply = await gateway.send('POST', '/sign-in', { key: null, body: 'email=a', headers: { ...form, origin } });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('password');
  });
});

describe('a page behind sign-in', () => {
  it('keeps its address for the way back', async () => {
    const reply = await gateway.send('GET', '/tasks?page=2', { key: null });
    expect([reply.status, reply.headers.get('location')]).toEqual([303, '/sign-in?to=%2Ftasks%3Fpage%3D2']);
  });

  it('says on a page what there is not', async () => {
    const { cookie } = await gateway.addSession(opened.organizationId, 'viewer');
    for (const path of ['/tasks/ntf_00000000000000000000000000', '/tasks/x', '/executions/%3Cscript%3E']) {
      const reply = await gateway.send('GET', path, { key: null, headers: { cookie } });
      expect(reply.status).toBe(404);
      expect(reply.headers.get('content-type')).toContain('text/html');
      expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });

  it('has a page for every number that is asked for', async () => {
    const { cookie } = await gateway.addSession(opened.organizationId, 'viewer');
    for (const number of ['1', '99', '0', '-1', 'x', '9999999999999']) {
      const reply = await gateway.send('GET', `/tasks?page=${number}`, { key: null, headers: { cookie } });
      expect(reply.status).toBe(200);
    }
  });
});

describe('the icon', () => {
  it.each(['/favicon.svg', '/favicon.ico'])('is at %s', async (path) => {
    const reply = await gateway.send('GET', path, { key: null });
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
  });
});
