/** The address of the document, and what is relative to it. */
import { selectFirst } from './selectors.js';
import { getAttribute } from './attribute-values.js';
import { versionOf } from './tree.js';
import { URL } from './url.js';

let readDocumentUrl: () => string = () => 'about:blank';
let knownDocumentUrl: string | null = null;
let baseVersion = -1;
let knownBase = '';

export function setDocumentUrl(read: () => string): void {
  readDocumentUrl = read;
}

export function documentUrl(): string {
  return (knownDocumentUrl ??= readDocumentUrl());
}

/** What relative addresses on the page are relative to. */
export function baseUrl(): string {
  if (baseVersion === versionOf()) return knownBase;
  baseVersion = versionOf();
  const base = selectFirst(0, 'base[href]');
  const href = base < 0 ? null : getAttribute(base, 'href');
  const resolved = href === null ? null : URL.parse(href, documentUrl());
  knownBase = resolved === null ? documentUrl() : resolved.href;
  return knownBase;
}

/** An attribute that holds an address, made absolute; as written where it is none. */
export function resolvedUrl(node: number, attribute: string): string {
  const written = getAttribute(node, attribute);
  if (written === null) return '';
  return URL.parse(written, baseUrl())?.href ?? written;
}
