import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodingFault, separatorFault } from './address-credentials.js';

describe('a password in the address of a page', () => {
  it.each([
    ['http://u:p@ss@hooks.example/{{ task.name }}', '@ as %40'],
    ['HTTPS://ada@example.com:secret@hooks.example/', '@ as %40'],
    ['http://u:p@s@s@hooks.example', '@ as %40'],
    ['http://u:p/ss@hooks.example/', '/ as %2F'],
    ['http://u:p?s#s@hooks.example/', '? as %3F, # as %23'],
    [String.raw`https://u:p\ss@hooks.example/`, '\\ as %5C'],
  ])('with a plain character that separates is named with what to write: %s', (address, written) => {
    expect(separatorFault(address, 'page')).toBe(
      `has a user name or password with a character that separates; write ${written}`,
    );
  });

  it.each([
    'http://u:p%40ss@hooks.example/{{ task.name }}',
    'http://u:********@hooks.example/',
    'https://mastodon.example/@user',
    'https://u:p@mastodon.example/@user?to=a@b#@',
    'http://localhost:8080/@user',
    'https://hooks.example/{{ task.name | append: "@" }}',
    'https://u:100%@hooks.example/',
    '********',
    '/usr/bin/chromium@1',
  ])('that leads where it is meant to is left alone: %s', (address) => {
    expect(separatorFault(address, 'page')).toBeNull();
  });

  it('has a lone % named as well where not every program takes it for itself', () => {
    expect(encodingFault('http://u:100%@proxy.example', 'nothing')).toContain('write % as %25');
    expect(encodingFault('http://u:1@0%@proxy.example', 'nothing')).toContain('write @ as %40, % as %25');
    expect(encodingFault('http://u:100%25@proxy.example', 'nothing')).toBeNull();
  });

  it('is never named once it is percent-encoded, whatever it holds', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(text, text, fc.constantFrom('nothing', 'options', 'page'), (user, password, behind) => {
        const pair = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
        expect(encodingFault(`https://${pair}@hooks.example:8080/`, behind)).toBeNull();
      }),
    );
  });
});

describe('a password in the address of an engine', () => {
  it.each([
    ['esdb://admin:p@ss/w#rd@127.0.0.1:2113?tls=false', '@ as %40, / as %2F, # as %23'],
    ['mongodb://u:p@ss/w@one,two/meerkat?w=majority', '@ as %40, / as %2F'],
    ['kafka://u:p@s#s@host:9092', '@ as %40, # as %23'],
    ['esdb://admin:p@ss/w@host:2113?tlsCAFile=/etc/a@b.pem', '@ as %40, / as %2F'],
  ])('is named also where an @ comes before what separates: %s', (address, written) => {
    expect(encodingFault(address, 'options')).toBe(
      `has a user name or password with a character that separates; write ${written}`,
    );
  });

  it.each([
    'esdb://admin:p%40ss@127.0.0.1:2113?tls=false',
    'esdb://admin:secret@host:2113?tlsCAFile=/etc/a@b.pem',
    'mongodb://u:p@one,two/meerkat?appName=a@b',
  ])('that leads where it is meant to is left alone: %s', (address) => {
    expect(encodingFault(address, 'options')).toBeNull();
  });
});
