import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readConfig } from '#runtime/config';
import { leaveAddress, linkBaseOf } from './left-address.js';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'meerkat-address-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const config = (settings: Readonly<Record<string, string>> = {}) =>
  readConfig({ DATA_DIR: dataDir, ...settings }, dataDir);

describe('what the links of a command begin with', () => {
  it('is where the server of the data folder was reached last', () => {
    leaveAddress(config(), 'http://127.0.0.1:4100');
    leaveAddress(config(), 'https://meerkat.example.com');
    expect(linkBaseOf(config())).toBe('https://meerkat.example.com');
  });

  it('is the PUBLIC_URL of the command itself before that', () => {
    leaveAddress(config(), 'http://127.0.0.1:4100');
    expect(linkBaseOf(config({ PUBLIC_URL: 'https://meerkat.example.com/' }))).toBe('https://meerkat.example.com');
  });

  it('is what the settings of the command say where no server has left anything', () => {
    expect(linkBaseOf(config({ PORT: '4100' }))).toBe('http://127.0.0.1:4100');
    expect(linkBaseOf(config({ HOST: '0.0.0.0' }))).toBe('http://localhost:3000');
    expect(linkBaseOf(config({ HOST: '::1' }))).toBe('http://[::1]:3000');
  });

  it.each([
    ['no address', () => writeFileSync(join(dataDir, 'address'), 'see above\n')],
    ['an address of another kind', () => writeFileSync(join(dataDir, 'address'), 'javascript:alert(1)\n')],
    ['too long for one', () => writeFileSync(join(dataDir, 'address'), `http://a.example/${'x'.repeat(3_000)}\n`)],
    ['a link to something that never ends', () => symlinkSync('/dev/zero', join(dataDir, 'address'))],
  ])('is not what stands in its place: %s', (_what, plant) => {
    plant();
    expect(linkBaseOf(config())).toBe('http://127.0.0.1:3000');
  });

  it('is no reason for a server to fail where it cannot be left', () => {
    expect(() => leaveAddress({ dataDir: join(dataDir, 'gone') }, 'http://127.0.0.1:4100')).not.toThrow();
  });
});
