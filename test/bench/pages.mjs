// Pages shaped like the ones people watch, of a wanted size, from a seed; and the code that people write for them.
import { createRandom } from './random.mjs';

const words =
  'amber anchor autumn basket beacon birch bridge bright canyon cedar cobalt copper cotton crystal delta ember fabric falcon forest garden granite harbor hollow indigo island ivory jacket juniper lantern linen marble meadow mirror nimbus ocean orchard paper pebble pepper piano quartz ranger river saddle silver summit timber valley velvet walnut willow winter'.split(
    ' ',
  );

function tools(seed) {
  const random = createRandom(seed);
  const number = (below) => Math.floor(random() * below);
  const word = () => words[number(words.length)];
  const text = (count) => Array.from({ length: count }, word).join(' ');
  return { number, word, text };
}

const shell = (title, body) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/a.css">
<script>window.dataLayer=[];function track(e){dataLayer.push(e)}</script></head>
<body><header class="top"><nav><ul><li><a href="/">Home</a></li><li><a href="/all">All</a></li></ul></nav></header>
<main id="content">
${body}
</main><footer><p>&copy; 2026 &middot; <a href="/legal">Legal</a></p></footer></body></html>
`;

/** One repeated part of each kind of page. */
const parts = {
  shop: (
    { number, text, word },
    i,
  ) => `<article class="product card" data-sku="${word()}-${i}" data-stock="${number(20)}">
<a class="link" href="/p/${i}?ref=list"><img src="/i/${i}.jpg" alt="${text(3)}" width="240" height="240" loading="lazy"></a>
<h2 class="title">${text(4)}</h2><p class="text">${text(14)} &amp; more</p>
<div class="offer"><span class="price" itemprop="price">&euro; ${number(900) + 20},${String(number(100)).padStart(2, '0')}</span><del>&euro; ${number(2000) + 900},00</del></div>
<ul class="tags"><li>${word()}</li><li>${word()}</li></ul><button type="button" class="btn btn-buy" data-id="${i}">Buy</button></article>
`,
  news: (
    { number, text, word },
    i,
  ) => `<section class="story"><h3><a href="/2026/${number(12) + 1}/${word()}-${i}">${text(8)}</a></h3>
<p class="meta"><time datetime="2026-0${number(9) + 1}-1${number(9)}T08:00:00Z">${number(23)} hours ago</time> by <a rel="author" href="/a/${word()}">${text(2)}</a></p>
<p>${text(45)}.</p><p>${text(38)} <em>${text(3)}</em> ${text(22)}.</p><!-- slot ${i} --></section>
`,
  table: (
    { number, text, word },
    i,
  ) => `<tr class="${i % 2 === 0 ? 'even' : 'odd'}"><td>${i}</td><td><a href="/s/${word()}">${text(2)}</a></td><td class="num">${number(100_000) / 100}</td><td class="num">${number(2000) / 100 - 10}%</td><td>${word()}</td><td><span class="flag">${word()}</span></td></tr>
`,
};
const wrappers = {
  shop: (body) => `<div class="grid">${body}</div>`,
  news: (body) => body,
  table: (body) =>
    `<table class="quotes"><thead><tr><th>#</th><th>Name</th><th>Last</th><th>Change</th><th>Market</th><th>Flag</th></tr></thead><tbody>${body}</tbody></table>`,
};

/** Reads what people look for: walks, selectors, text, attributes. Runs in a browser's document as it stands. */
const codes = {
  shop: `let cheapest = Infinity, inStock = 0;
for (const card of document.querySelectorAll('article.product')) {
  const price = Number(card.querySelector('.price').textContent.replace(/[^0-9,]/g, '').replace(',', '.'));
  if (price < cheapest) cheapest = price;
  if (Number(card.getAttribute('data-stock')) > 0) inStock += 1;
}
return cheapest < 100 && inStock > 0;`,
  news: `const titles = Array.from(document.querySelectorAll('.story h3 a'), (link) => link.textContent.toLowerCase());
const first = document.querySelector('.story time');
return titles.some((title) => title.includes('quartz')) || first.getAttribute('datetime') > '2026-05';`,
  table: `let best = -Infinity;
for (const row of document.querySelectorAll('table.quotes tbody tr')) {
  best = Math.max(best, parseFloat(row.cells[3].textContent));
}
return best > 5;`,
};

/** The least that people write: one selector and a comparison. */
export const selectorCodes = {
  shop: "return document.querySelector('.offer .price').textContent.includes(',');",
  news: "return document.querySelector('.story h3 a').textContent.length > 3;",
  table: "return parseFloat(document.querySelector('table.quotes td.num').textContent) > 5;",
};

export const shapes = Object.keys(parts);

/** A page of at least `bytes`, by less than one part more. */
export function makePage(shape, bytes, seed) {
  const kit = tools(seed);
  const body = [];
  let length = shell('', '').length;
  for (let i = 1; length < bytes; i += 1) {
    const part = parts[shape](kit, i);
    body.push(part);
    length += part.length;
  }
  return { html: shell(kit.text(4), wrappers[shape](body.join(''))), code: codes[shape] };
}
