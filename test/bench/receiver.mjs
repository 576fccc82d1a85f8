// The other side of `deliver` and `lateness`, in a process of its own: a page, and a receiver that remembers when each
// webhook began to come. GET /received answers what came so far, GET /count how many. Under /hanging nothing is answered.
import { createServer } from 'node:http';

const received = [];
/** Pages whose price goes up and down with each visit, none like another; /steady stays. */
const visits = new Map();

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (pathname === '/received') return void response.end(JSON.stringify(received));
  if (pathname === '/count') return void response.end(String(received.length));
  if (pathname === '/hanging') return void request.resume();
  const atMs = Date.now();
  if (request.method === 'GET') {
    const count = (visits.get(pathname) ?? 0) + 1;
    visits.set(pathname, count);
    const price = pathname === '/steady' || count % 2 === 0 ? 80 : 120;
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    return void response.end(`<!doctype html><title>Offer ${pathname}</title><p class="price">${price}</p>`);
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(204).end();
    const { data } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    received.push({
      atMs,
      id: request.headers['webhook-id'],
      executionId: data.execution.id,
      finishedAt: data.execution.finishedAt,
    });
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready at http://127.0.0.1:${server.address().port}\n`));
