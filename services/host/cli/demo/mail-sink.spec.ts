import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, type AddressInfo, type Server } from 'node:net';
import { createTransport } from 'nodemailer';
import { createMailSink, readMail, type ReceivedMail } from './mail-sink.js';

let server: Server;
let mails: ReceivedMail[];

beforeEach(async () => {
  mails = [];
  server = createMailSink((mail) => mails.push(mail));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.close();
  await once(server, 'close');
});

async function send(mail: { subject: string; text: string; html?: string; attachments?: object[] }): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  await transport.sendMail({
    from: 'Meerkat <m@demo.localhost>',
    to: ['a@demo.localhost', 'b@demo.localhost'],
    ...mail,
  });
  transport.close();
}

describe('the mail sink', () => {
  it('takes what a mail client sends', async () => {
    await send({ subject: 'Now 89 euros', text: 'first\n.dotted\n\nlast' });
    expect(mails).toEqual([
      {
        from: 'Meerkat <m@demo.localhost>',
        to: ['a@demo.localhost', 'b@demo.localhost'],
        subject: 'Now 89 euros',
        text: 'first\r\n.dotted\r\n\r\nlast',
      },
    ]);
  });

  it.each(['Füchse für 89 €', 'キツネ 🦊 ' + 'long '.repeat(40)])('reads %s as it was written', async (words) => {
    await send({ subject: words.trim(), text: words.trim() });
    expect(mails[0]?.subject).toBe(words.trim());
    expect(mails[0]?.text).toBe(words.trim());
  });

  it.each([
    ['beside HTML', { html: '<p>Füchse <b>89</b></p>' }],
    ['beside HTML with a picture', { html: '<p><img src="cid:a"></p>', attachments: [{ cid: 'a', content: 'x' }] }],
    ['beside an attachment', { attachments: [{ filename: 'a.txt', content: 'x' }] }],
  ])('reads the plain text %s, and nothing else', async (_, more) => {
    await send({ subject: 'x', text: 'Füchse für 89 €\n\nlast', ...more });
    expect(mails[0]?.text).toBe('Füchse für 89 €\r\n\r\nlast');
  });

  it('takes several mails over one connection and answers what it does not know', async () => {
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    let said = '';
    socket.on('data', (chunk: string) => (said += chunk));
    const mail = 'MAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\nSubject: x\r\n\r\nhello\r\n.\r\n';
    socket.write(`EHLO me\r\nVRFY x\r\n${mail}RSET\r\n${mail}QUIT\r\n`);
    await once(socket, 'close');
    expect(mails.map(({ to, subject }) => [...to, subject])).toEqual([
      ['c@d', 'x'],
      ['c@d', 'x'],
    ]);
    expect(
      said
        .split('\r\n')
        .map((line) => line.slice(0, 3))
        .join(' ')
        .trim(),
    ).toBe('220 250 502 250 250 354 250 250 250 250 354 250 221');
  });

  it('reads a mail without a body', () => {
    expect(readMail('Subject: only a head')).toEqual({ from: '', subject: 'only a head', text: '' });
  });
});
