/** What an answer is made of, by its Content-Type and, where that says nothing, by its first bytes. */
import type { ContentKind } from '#sandbox/sandbox';

export type Content =
  | { readonly ok: true; readonly kind: ContentKind; readonly charset: string | null }
  | { readonly ok: false; readonly message: string };

/** How much of a body is looked at (MIME Sniffing standard). */
const sniffedBytes = 1_445;

const binaryTypes =
  /^(?:image|audio|video|font|model)\/|^application\/(?:zip|gzip|x-gzip|pdf|wasm|x-7z-compressed|x-tar|x-bzip2?|x-rar-compressed|vnd\.rar|java-archive|x-shockwave-flash|vnd\.openxmlformats|vnd\.ms-|vnd\.oasis|msword|x-protobuf|protobuf|grpc|msgpack|cbor)/;

/** Starts of files that are no text although they begin like it. */
const magic = /^(?:%PDF-|GIF8[79]a|PK\x03\x04|\x89PNG|\xff\xd8\xff|\x1f\x8b|RIFF[\s\S]{4}WEBP|OggS|\x00asm|Rar!\x1a)/;

const htmlStart =
  /^[\t\n\f\r ]*<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta|link)[\t\n\f\r >]|^[\t\n\f\r ]*<!--/i;

/** Reads the type and the charset; sniffs where the server does not say or says "some bytes". */
export function contentOf(contentType: string | undefined, body: Uint8Array): Content {
  const { essence, charset } = knownContentType(contentType ?? '');
  if (essence === 'text/html') return { ok: true, kind: 'html', charset };
  if (/^(?:text|application)\/xml$|\+xml$/.test(essence)) return { ok: true, kind: 'xml', charset };
  if (/^(?:application|text)\/json$|\+json$/.test(essence)) return { ok: true, kind: 'json', charset };
  if (essence.startsWith('text/') || /^application\/(?:x-)?(?:java|ecma)script$/.test(essence)) {
    return { ok: true, kind: 'text', charset };
  }
  if (binaryTypes.test(essence)) return notText(essence);
  return sniffed(essence, charset, body);
}

function notText(essence: string): Content {
  return { ok: false, message: `The page is not text: ${essence.slice(0, 80)}` };
}

function sniffed(essence: string, charset: string | null, body: Uint8Array): Content {
  const bytes = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, sniffedBytes));
  const wide = (bytes[0] === 0xfe && bytes[1] === 0xff) || (bytes[0] === 0xff && bytes[1] === 0xfe);
  const head = bytes.toString('latin1');
  if (magic.test(head) || (!wide && bytes.some(isBinaryByte))) {
    return notText(essence === '' ? 'the server does not say what it is' : essence);
  }
  const text = head.startsWith('\xef\xbb\xbf') ? head.slice(3) : head;
  if (htmlStart.test(text)) return { ok: true, kind: 'html', charset };
  if (/^[\t\n\f\r ]*<\?xml/.test(text)) return { ok: true, kind: 'xml', charset };
  return { ok: true, kind: /^[\t\n\r ]*[{[]/.test(text) && endsLikeJson(body) ? 'json' : 'text', charset };
}

/** Bytes that no text holds (MIME Sniffing standard). */
function isBinaryByte(byte: number): boolean {
  return byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f);
}

function endsLikeJson(body: Uint8Array): boolean {
  let at = body.length - 1;
  while (at >= 0 && (body[at] ?? 0) <= 0x20) at -= 1;
  return body[at] === 0x7d || body[at] === 0x5d;
}

/** Most pages have one of a few: they are read once. */
const known = new Map<string, ContentType>();
const knownTypes = 200;

function knownContentType(value: string): ContentType {
  const found = known.get(value) ?? parseContentType(value);
  if (known.size < knownTypes && value.length < 100) known.set(value, found);
  return found;
}

interface ContentType {
  readonly essence: string;
  readonly charset: string | null;
}

/** The type without parameters, in lower case, and the first charset. Of a repeated header the last value that is a type counts. */
export function parseContentType(value: string | undefined): ContentType {
  let essence = '';
  let charset: string | null = null;
  for (const part of splitOutsideQuotes(value ?? '', ',')) {
    const [type = '', ...parameters] = splitOutsideQuotes(part, ';');
    const name = type.trim().toLowerCase();
    if (!/^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/.test(name)) continue;
    if (name !== essence) charset = null;
    essence = name;
    for (const parameter of parameters) {
      const found = /^\s*charset=(?:"((?:[^"\\]|\\.)*)"?|([^\s]*))/i.exec(parameter);
      const label = found?.[1]?.replace(/\\(.)/g, '$1') ?? found?.[2];
      if (label !== undefined && label !== '') {
        charset = label;
        break;
      }
    }
  }
  return { essence, charset };
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  if (!text.includes('"')) return text.split(separator);
  const parts: string[] = [];
  let quoted = false;
  let start = 0;
  for (let i = 0; i < text.length; i += 1) {
    if (text[i] === '\\' && quoted) i += 1;
    else if (text[i] === '"') quoted = !quoted;
    else if (text[i] === separator && !quoted) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}
