/** A mail as text, made in one go: written through streams, as nodemailer does it, each part costs several turns of the event loop. */
import MailComposer, { type Options } from 'nodemailer/lib/mail-composer';
import { encode as encodeBase64, wrap as wrapBase64 } from 'nodemailer/lib/base64';
import { encode as encodeQuoted, wrap as wrapQuoted } from 'nodemailer/lib/qp';

type Part = ReturnType<MailComposer['compile']>;

const lineLength = 76;

/** null: in a way that is not written here. */
function bodyOf(part: Part): string | null {
  const { content = '' } = part;
  if (typeof content !== 'string' && !Buffer.isBuffer(content)) return null;
  switch (part.getTransferEncoding()) {
    case 'quoted-printable':
      return wrapQuoted(encodeQuoted(content), lineLength);
    case 'base64':
      return wrapBase64(encodeBase64(content), lineLength);
    case '7bit':
      return content.toString();
    default:
      return null;
  }
}

function textOf(part: Part): string | null {
  // Known once the headers are built.
  const headers = `${part.buildHeaders()}\r\n\r\n`;
  const { boundary, multipart, childNodes } = part;
  if (typeof multipart !== 'string' || typeof boundary !== 'string') {
    const body = bodyOf(part);
    return body === null ? null : headers + body;
  }
  const parts = childNodes.map(textOf);
  if (parts.includes(null)) return null;
  return `${headers}${parts.map((text) => `--${boundary}\r\n${text}\r\n`).join('')}--${boundary}--\r\n`;
}

/** The same bytes as nodemailer makes. null: it holds what this does not write. */
export function composedMail(options: Options): string | null {
  const text = textOf(new MailComposer(options).compile());
  return text === null || text.endsWith('\r\n') ? text : `${text}\r\n`;
}
