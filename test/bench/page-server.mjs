// The other side of `pipeline`, in a process of its own: /changing/<shape>/<bytes> is another page at each visit,
// /steady/<shape>/<bytes> always the same, /tagged/<shape>/<bytes> too, and answers 304 to who knows it. With SITES it answers
// at so many addresses of the loopback network, each a site of its own to who limits what one site is asked.
import { createServer } from 'node:http';
import { makePage } from './pages.mjs';

const pagesEach = 8;
const made = new Map();
let visits = 0;
const tag = '"v1"';

function pagesOf(shape, bytes) {
  const key = `${shape}/${bytes}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const pages = Array.from({ length: pagesEach }, (_, at) => Buffer.from(makePage(shape, Number(bytes), at).html));
  made.set(key, pages);
  return pages;
}

function answer(request, response) {
  const [, kind = '', shape, bytes] = new URL(request.url, 'http://localhost').pathname.split('/');
  if (shape === undefined || bytes === undefined) return void response.end('pages');
  visits += 1;
  if (kind === 'tagged' && request.headers['if-none-match'] === tag) return void response.writeHead(304).end();
  const pages = pagesOf(shape, bytes);
  // Never the same twice, so that nothing is known of it, nor kept already.
  const page =
    kind === 'changing' ? Buffer.concat([pages[visits % pagesEach], Buffer.from(`<!-- ${visits} -->`)]) : pages[0];
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-length': page.length };
  response.writeHead(200, kind === 'tagged' ? { ...headers, etag: tag } : headers);
  response.end(page);
}

async function listen(address, port) {
  const server = createServer(answer);
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(port, address, resolve));
  return server.address().port;
}

const port = await listen('127.0.0.1', 0);
for (let site = 2; site <= Number(process.env.SITES ?? 1); site += 1) await listen(`127.0.0.${site}`, port);
process.stdout.write(`ready at http://127.0.0.1:${port}\n`);
