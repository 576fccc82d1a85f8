import { describe, expect, it } from '@jest/globals';
import { fetchSettings } from '#contracts/fetch';
import { failedLoad, toPageRequest } from './page-evaluation.js';

const headersOf = (settings: object) =>
  toPageRequest('https://example.com/', fetchSettings.parse(settings), 'org_1').headers;

describe('the request of a page', () => {
  it.each([
    ['{"a": 1}', 'application/json'],
    [' [1, 2]\n', 'application/json'],
    ['{"a": 1', 'text/plain; charset=utf-8'],
    ['user=ada&page=2', 'application/x-www-form-urlencoded'],
    ['q=a%20b', 'application/x-www-form-urlencoded'],
    ['a=b c', 'text/plain; charset=utf-8'],
    ['<x a="b"/>', 'text/plain; charset=utf-8'],
    ['hello', 'text/plain; charset=utf-8'],
    ['', 'text/plain; charset=utf-8'],
  ])('says what a body is that has no type of its own: %j', (body, contentType) => {
    expect(headersOf({ method: 'POST', body })).toEqual({ 'content-type': contentType });
  });

  it('leaves the type alone that is given, and needs none without a body', () => {
    const headers = { 'Content-Type': 'application/xml' };
    expect(headersOf({ method: 'POST', body: '{}', headers })).toEqual(headers);
    expect(headersOf({})).toEqual({});
  });

  it('has user name and password as RFC 7617 writes them', () => {
    const auth = { type: 'basic', username: 'Aladdin', password: 'open sesame' };
    expect(headersOf({ auth })).toEqual({ authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' });
    expect(headersOf({ auth: { ...auth, username: 'test', password: '123£' } })).toEqual({
      authorization: 'Basic dGVzdDoxMjPCow==',
    });
  });
});

describe('a page that asks for a login', () => {
  const failure = { ok: false, message: 'no', finalUrl: 'https://example.com/', fetchMs: 1, attempts: 1 } as const;

  it.each([401, 403])('says which setting answers it (%i)', (status) => {
    const { error } = failedLoad({ ...failure, reason: 'http_status', status });
    expect(error?.hint).toContain('fetch.auth');
  });

  it('is no other failure', () => {
    expect(failedLoad({ ...failure, reason: 'http_status', status: 500 }).error).toEqual({
      reason: 'http_status',
      message: 'no',
    });
    expect(failedLoad({ ...failure, reason: 'timed_out', status: null }).error?.hint).toBeUndefined();
  });
});
