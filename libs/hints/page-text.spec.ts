import { describe, expect, it } from '@jest/globals';
import { pageText, partsOf } from './page-text.js';
import { isScriptShell } from './script-shell.js';

describe('the text of a page', () => {
  it.each([
    ['<title>Shop</title><p>One <b>two</b>\n three', 'One two three'],
    ['<script>var a = "<p>";</script>shown<style>p{}</style>', 'shown'],
    ['a<!-- b -->c', 'a c'],
    ['1 < 2 &amp; 3 &gt; 2 &#8364;&#x41;&unknown;', '1 < 2 & 3 > 2 €A&unknown;'],
    ['<SCRIPT>x</Script>İ<noscript>off</noscript>y', 'İ y'],
    ['seen<script>never closed', 'seen'],
    ['seen<template>not closed, so seen too', 'seen not closed, so seen too'],
    ['text <', 'text <'],
    ['text <p', 'text'],
  ])('of %j is %j', (html, text) => {
    expect(pageText(html, 200)).toBe(text);
  });

  it('has as many characters as asked for', () => {
    expect(pageText('ab '.repeat(1_000), 10)).toBe('ab ab ab a');
  });
});

describe('a page that is made to be slow to read', () => {
  /** A search whose time grows with the square of the length does not come to an end with these. */
  it.each([
    '<',
    '<script>',
    '<!--',
    '<noscript>',
    '<template><svg>',
    '<a ',
    '<div id=root>',
    '<div id=root><!--',
    '</',
    '<title></',
    '&#',
    '<div id = ',
  ])('by %j is read in one pass', (piece) => {
    const html = `<script></script>${piece.repeat(Math.floor(2_000_000 / piece.length))}`;
    let parts = 0;
    for (const _ of partsOf(html)) parts += 1;
    expect(parts).toBeLessThanOrEqual(html.length);
    expect(pageText(html, 600).length).toBeLessThanOrEqual(600);
    expect(isScriptShell(html.slice(0, 250_000))).toBe(false);
  });
});
