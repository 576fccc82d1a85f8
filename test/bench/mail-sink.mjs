// The other side of `deliver`: a mail server in a process of its own that takes everything and remembers the Message-IDs.
import { createServer } from 'node:http';
import { SMTPServer } from 'smtp-server';

const received = [];

const mail = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  disableReverseLookup: true,
  logger: false,
  onData(stream, _session, callback) {
    const chunks = [];
    stream.on('data', (chunk) => chunks.push(chunk));
    stream.on('end', () => {
      const head = Buffer.concat(chunks).toString('latin1', 0, 4_096);
      received.push({ atMs: Date.now(), id: /^Message-ID: <([^@>]+)/im.exec(head)?.[1] ?? '' });
      callback();
    });
  },
});
mail.on('error', (error) => process.stderr.write(`${error.message}\n`));
await new Promise((resolve) => mail.listen(0, '127.0.0.1', resolve));
const { port } = mail.server.address();

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  response.end(JSON.stringify(pathname === '/count' ? received.length : pathname === '/port' ? port : received));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready at http://127.0.0.1:${server.address().port}\n`));
