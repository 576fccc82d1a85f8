/** A shop page whose price changes while it is watched. */
import { createServer, type Server } from 'node:http';

const regularPrice = 129;
const loweredPrice = 89;
/** The watcher sees the regular price this often before the first drop, and each price that often afterwards. */
const visitsBeforeDrop = 2;
const visitsPerPrice = 12;
/** What the watcher calls itself; people may look at the page as often as they like. */
const watcher = /^Meerkat\//;

/** The price after so many visits of the watcher. */
export function priceAt(visits: number): number {
  if (visits <= visitsBeforeDrop) return regularPrice;
  const change = Math.floor((visits - visitsBeforeDrop - 1) / visitsPerPrice);
  return change % 2 === 0 ? loweredPrice : regularPrice;
}

function pageWith(price: number): string {
  const dropped = price < regularPrice;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><title>Kalahari Outfitters: field binoculars</title>
<meta http-equiv="refresh" content="2">
<style>body { font: 18px/1.6 system-ui; max-width: 34rem; margin: 4rem auto } .price { font-size: 2rem } del { color: #888 }</style>
</head>
<body>
<h1>Field binoculars 8×42</h1>
<p class="price">${dropped ? `<del>€ ${regularPrice}.00</del> ` : ''}<span itemprop="price">€ ${price}.00</span></p>
<p class="stock">In stock</p>
</body>
</html>
`;
}

/** Not listening yet. */
export function createShop(): Server {
  let visits = 0;
  return createServer((request, response) => {
    if (watcher.test(request.headers['user-agent'] ?? '')) visits += 1;
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    response.end(pageWith(priceAt(Math.max(1, visits))));
  });
}
