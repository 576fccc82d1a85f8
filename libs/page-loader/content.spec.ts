import { describe, expect, it } from '@jest/globals';
import { contentOf, parseContentType } from './content.js';

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));

describe('the Content-Type header', () => {
  it.each([
    [undefined, '', null],
    ['', '', null],
    ['text/html', 'text/html', null],
    ['Text/HTML; Charset=UTF-8', 'text/html', 'UTF-8'],
    ['text/html;charset="utf-8"', 'text/html', 'utf-8'],
    ['text/html; charset="a\\"b"', 'text/html', 'a"b'],
    ['text/html; charset="utf-8', 'text/html', 'utf-8'],
    ['text/html; a=b; charset=gbk; charset=big5', 'text/html', 'gbk'],
    ['text/html; title="x;charset=gbk"; charset=big5', 'text/html', 'big5'],
    ['text/html; charset=', 'text/html', null],
    ['text/html, text/html; charset=gbk', 'text/html', 'gbk'],
    ['text/html; charset=gbk, text/plain', 'text/plain', null],
    ['text/html; charset=gbk, nonsense', 'text/html', 'gbk'],
    ['html', '', null],
    ['text/', '', null],
    ['te xt/html', '', null],
  ])('of %j means %j with the charset %j', (value, essence, charset) => {
    expect(parseContentType(value)).toEqual({ essence, charset });
  });
});

describe('the content of an answer', () => {
  it.each([
    ['text/html', '', 'html'],
    ['text/html', '\0\0', 'html'],
    ['application/xhtml+xml', '', 'xml'],
    ['text/xml', '', 'xml'],
    ['application/xml', '', 'xml'],
    ['application/rss+xml', '', 'xml'],
    ['application/atom+xml', '', 'xml'],
    ['image/svg+xml', '<svg/>', 'xml'],
    ['application/json', '', 'json'],
    ['text/json', '', 'json'],
    ['application/ld+json', '', 'json'],
    ['application/problem+json', '', 'json'],
    ['text/plain', '<html>', 'text'],
    ['text/csv', 'a,b', 'text'],
    ['text/javascript', 'x', 'text'],
    ['application/javascript', 'x', 'text'],
    ['application/x-javascript', 'x', 'text'],
    ['application/octet-stream', 'plain words', 'text'],
    ['application/octet-stream', '<!DOCTYPE html><p>', 'html'],
    ['application/x-unheard-of', '{"a":1}', 'json'],
    [undefined, '<!doctype HTML>', 'html'],
    [undefined, '  \n<html lang=de>', 'html'],
    [undefined, '<HEAD>', 'html'],
    [undefined, '<!-- hello -->', 'html'],
    [undefined, '\xef\xbb\xbf<html>', 'html'],
    [undefined, '<htmlish>', 'text'],
    [undefined, '<?xml version="1.0"?><a/>', 'xml'],
    [undefined, '{"a":1}\n', 'json'],
    [undefined, ' [1,2]', 'json'],
    [undefined, '{ not json', 'text'],
    [undefined, 'plain', 'text'],
    [undefined, '', 'text'],
    [undefined, '\xff\xfea\0b\0', 'text'],
    ['nonsense', '<html>', 'html'],
  ])('%j with %j is read as %s', (type, body, kind) => {
    expect(contentOf(type, bytes(body))).toMatchObject({ ok: true, kind });
  });

  it.each([
    ['image/png', 'x', 'The page is not text: image/png'],
    ['IMAGE/JPEG; a=b', 'x', 'The page is not text: image/jpeg'],
    ['application/pdf', 'x', 'The page is not text: application/pdf'],
    ['application/zip', 'x', 'The page is not text: application/zip'],
    ['video/mp4', 'x', 'The page is not text: video/mp4'],
    ['font/woff2', 'x', 'The page is not text: font/woff2'],
    ['application/octet-stream', 'a\0b', 'The page is not text: application/octet-stream'],
    ['application/octet-stream', '%PDF-1.7', 'The page is not text: application/octet-stream'],
    [undefined, '\x89PNG\r\n\x1a\n', 'The page is not text: the server does not say what it is'],
    [undefined, 'PK\x03\x04', 'The page is not text: the server does not say what it is'],
    [undefined, 'GIF89a', 'The page is not text: the server does not say what it is'],
    [undefined, 'text\x01', 'The page is not text: the server does not say what it is'],
  ])('%j with %j is not text', (type, body, message) => {
    expect(contentOf(type, bytes(body))).toEqual({ ok: false, message });
  });
});
