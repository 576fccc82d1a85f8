/** Bodies of requests that are no text: a picture by itself, or a form that holds one. As values; what is sent follows from them. */
import { hash } from 'node:crypto';

export type FormPart =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly fileName: string; readonly contentType: string; readonly bytes: Uint8Array };

export type BinaryBody =
  /** The content type stands among the headers. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** `multipart/form-data` (RFC 7578). Names are ours: none needs to be escaped. */
  | { readonly kind: 'form'; readonly parts: readonly FormPart[] };

export interface EncodedBody {
  readonly bytes: Uint8Array;
  /** null: that of the request. */
  readonly contentType: string | null;
}

function partBytes(part: FormPart): Uint8Array[] {
  const disposition = `Content-Disposition: form-data; name="${part.name}"`;
  if ('value' in part) return [Buffer.from(`${disposition}\r\n\r\n`), Buffer.from(part.value)];
  const head = `${disposition}; filename="${part.fileName}"\r\nContent-Type: ${part.contentType}\r\n\r\n`;
  return [Buffer.from(head), part.bytes];
}

/** The same bytes on every try: what stands between the parts is a digest of them, which none of them holds. */
export function encodeBody(body: BinaryBody): EncodedBody {
  if (body.kind === 'bytes') return { bytes: body.bytes, contentType: null };
  const parts = body.parts.map((part) => Buffer.concat(partBytes(part)));
  const boundary = `meerkat-${hash('sha256', Buffer.concat(parts), 'hex').slice(0, 40)}`;
  const lines = parts.flatMap((part) => [Buffer.from(`--${boundary}\r\n`), part, Buffer.from('\r\n')]);
  const bytes = Buffer.concat([...lines, Buffer.from(`--${boundary}--\r\n`)]);
  return { bytes, contentType: `multipart/form-data; boundary=${boundary}` };
}

/** For people: every field, and of a file its name and size. */
export function shownBody(body: BinaryBody): string {
  const size = (bytes: Uint8Array): string => `(${bytes.length} bytes)`;
  if (body.kind === 'bytes') return size(body.bytes);
  return body.parts
    .map((part) => `${part.name}: ${'value' in part ? part.value : `${part.fileName} ${size(part.bytes)}`}`)
    .join('\n');
}

const pictureName = 'chart.png';
const pictureType = 'image/png';

/** The chart as a part of a form. */
export function picturePart(name: string, bytes: Uint8Array): FormPart {
  return { name, fileName: pictureName, contentType: pictureType, bytes };
}

export function pictureBody(bytes: Uint8Array): BinaryBody {
  return { kind: 'bytes', bytes };
}
