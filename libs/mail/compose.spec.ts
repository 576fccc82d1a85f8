import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import MailComposer, { type Options } from 'nodemailer/lib/mail-composer';
import { composedMail } from './compose.js';

const plain: Options = {
  from: { name: 'Meerkat', address: 'watch@example.com' },
  to: [{ name: '', address: 'you@example.com' }],
  subject: 'In stock',
  text: 'It became true.\r\n',
  messageId: '<dlv_1@example.com>',
  date: new Date('2026-11-25T12:00:00Z'),
  baseBoundary: 'dlv1',
  headers: { 'Auto-Submitted': 'auto-generated', 'List-Unsubscribe': `<https://meerkat.example/${'x'.repeat(120)}>` },
};
const html = '<!doctype html><p>“Offer” – 12 €</p>\n';
const attachments = [
  {
    filename: 'chart.png',
    content: Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
    cid: 'chart',
    contentType: 'image/png',
  },
];

const madeByNodemailer = async (options: Options): Promise<string> =>
  (await new MailComposer(options).compile().build()).toString('latin1');
const composed = (options: Options): string => Buffer.from(composedMail(options) ?? '').toString('latin1');

describe('a composed mail', () => {
  it.each<[string, Options]>([
    ['text alone', plain],
    ['no line break at its end', { ...plain, text: 'It became true.' }],
    ['text and HTML', { ...plain, html }],
    ['a picture', { ...plain, html: `${html}<img src="cid:chart">`, attachments }],
    ['characters beyond ASCII everywhere', { ...plain, subject: 'Größe “M” 🎉', text: '日本語'.repeat(60), html }],
    ['a line that is too long for SMTP', { ...plain, text: 'a'.repeat(3_000) }],
    ['lines that end in blanks or begin with dots', { ...plain, text: '.\r\n..\r\nend \t\r\n = \r\n', html: '. \n' }],
    ['an answer to another mail', { ...plain, inReplyTo: '<a@b>', references: '<a@b>', replyTo: 'x@example.com' }],
  ])('has the bytes that nodemailer makes: %s', async (_, options) => {
    expect(composed(options)).toBe(await madeByNodemailer(options));
  });

  it('has the bytes that nodemailer makes, whatever it says', async () => {
    const anyText = fc.string({
      unit: fc.oneof(fc.constantFrom('\r\n', '\n', ' ', '=', '.', 'é', '🎉'), fc.string({ maxLength: 9 })),
    });
    await fc.assert(
      fc.asyncProperty(anyText, anyText, anyText, async (subject, text, body) => {
        const options = { ...plain, subject, text, html: `<p>${body}`, attachments };
        expect(composed(options)).toBe(await madeByNodemailer(options));
      }),
      { numRuns: 60 },
    );
  });

  it('is left to nodemailer where it is empty, and where it is read from elsewhere', () => {
    expect(composedMail({ ...plain, text: '' })).toBeNull();
    expect(composedMail({ ...plain, text: { path: '/dev/null' } })).toBeNull();
  });
});
