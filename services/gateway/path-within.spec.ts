import { describe, expect, it } from '@jest/globals';
import { pathWithin } from './path-within.js';

describe('the way on from sign-in', () => {
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
    [`/${'x'.repeat(2_000)}`, '/tasks'],
    [`/${'ä'.repeat(400)}`, '/tasks'],
    ['javascript:alert(1)', '/tasks'],
    ['/a\r\nset-cookie: x=y', '/tasks'],
  ])('asked for as %j leads to %j', (asked, path) => {
    expect(pathWithin(asked)).toBe(path);
  });
});
