/** The mail server: greeted at the start, and tried by a command before the first message needs it. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { embeddedInstallation } from '../kit/embedded.js';
import { runCommand } from '../kit/command-line.js';
import { scratchFolder } from '../kit/installation.js';
import { startMailSink, type MailSink } from '../kit/mail-sink.js';
import { until } from '../kit/until.js';

let mails: MailSink;
let folder: string;

beforeAll(async () => {
  [mails, folder] = await Promise.all([startMailSink(), scratchFolder()]);
});
afterAll(() => mails.close());

const nobody = 'smtp://127.0.0.1:9';

describe('meerkat test-mail', () => {
  const command = (smtpUrl: string, ...words: string[]) =>
    runCommand(['test-mail', ...words], { SMTP_URL: smtpUrl, MAIL_FROM: 'Meerkat <watch@example.com>' }, folder);

  it('sends one mail and prints what the mail server said', async () => {
    const { exitCode, out } = await command(mails.url, 'ada@example.com');
    expect([exitCode, out]).toEqual([0, expect.stringContaining('The mail server took it: 250')]);
    const mail = await until('the mail is there', () => mails.taken()[0] ?? null);
    expect(mail.recipients).toEqual(['ada@example.com']);
    expect(mail.subject).toBe('A test mail from Meerkat');
  });

  it('ends with 1 and the reason where the mail server is not there', async () => {
    const { exitCode, out } = await command(nobody, 'ada@example.com');
    expect([exitCode, out]).toEqual([1, expect.stringMatching(/^The mail was not taken: .* \(connect_failed\)$/m)]);
  });

  it('ends with 1 and the words of the mail server where it refuses the mail', async () => {
    mails.reply('nobody@example.com', 550);
    const { exitCode, out } = await command(mails.url, 'nobody@example.com');
    expect([exitCode, out]).toEqual([1, expect.stringContaining('The mail was not taken: 550 as told (smtp_refused)')]);
  });

  it('names what it needs', async () => {
    expect((await command('', 'ada@example.com')).error).toContain('SMTP_URL: must be set to send mail.');
    expect((await command(mails.url, 'nobody')).exitCode).toBe(2);
  });
});

describe('a start with a mail server', () => {
  it.each([
    ['greets it', () => mails.url, 'the mail server answers'],
    ['that does not answer says so', () => nobody, 'mail cannot be sent'],
  ])('%s beside becoming ready', async (_, url, said) => {
    const installation = await embeddedInstallation({ smtpUrl: url() });
    try {
      await installation.start();
      await until(said, () => installation.lines.some((line) => line.includes(said)));
    } finally {
      await installation.remove();
    }
  });
});
