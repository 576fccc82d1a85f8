// Pages that `npm run build:parser` trains the fast page parser on: what it meets there it is compiled to be quick at. They
// hold what real pages hold, in about the same shares, and are made from seeds, the same bytes everywhere. They are no
// pages of the benchmarks: a parser trained on those would be good at nothing but its examination.

const documentBytes = 100_000;
const fragmentBytes = 12_000;

/** xorshift32: all that matters is that it gives the same numbers for ever. */
function createDice(seed) {
  let state = seed;
  const number = (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  const pick = (from) => from[number(from.length)];
  const some = (count, make, between = '') => Array.from({ length: count }, (_, at) => make(at)).join(between);
  return { number, pick, some, chance: (percent) => number(100) < percent };
}

const languages = {
  en: 'the of and a to in that for with on as by from which would their about people report market after before council water house little between against without morning company several million however research question'.split(
    ' ',
  ),
  de: 'der die und für über nicht größte während können müssen Straße Häuser früher später Öffnung Prüfung läuft Gebühr schließlich natürlich Menschen wieder zwischen Jahren wurde'.split(
    ' ',
  ),
  fr: 'le la les été à où être déjà première élève forêt ça même côté naïve œuvre près société général avec dans pour leurs après numéro'.split(
    ' ',
  ),
  ru: 'и в не на что это был после города время который сказал года только новый более между всех людей также первый работы'.split(
    ' ',
  ),
  ja: '東京 新しい 記事 について 価格 今日 最新の ニュース 発表 した 会社 日本 市場 の 商品 送料無料 詳細 を見る 一覧 検索'.split(
    ' ',
  ),
};
const entities = ['&amp;', '&nbsp;', '&mdash;', '&rsquo;', '&quot;', '&#8217;', '&#x20AC;', '&lt;', '&gt;', '&copy;'];
/** As people write them: without what ends them, or meaning themselves. */
const strayEntities = ['AT&T', '&nbsp', ' & ', '?a=1&b=2&copy=3', '&unknown;', '&#150;'];

function createAuthor(seed, language = 'en') {
  const dice = createDice(seed);
  const { number, pick, some, chance } = dice;
  const word = () => pick(languages[language]);
  const words = (count) => some(count, word, ' ');
  const name = () => `${pick(languages.en)}-${pick(languages.en)}`;
  const link = () =>
    `<a href="/${name()}/${number(90_000)}${chance(30) ? `?ref=${word()}&amp;page=${number(9)}` : ''}"${chance(20) ? ' target="_blank" rel="noopener"' : ''}>${words(2 + number(5))}</a>`;
  /** A sentence with what stands inside sentences. */
  const phrase = () => {
    const kind = number(20);
    if (kind < 3) return link();
    if (kind < 5) return `<${kind === 3 ? 'em' : 'strong'}>${words(3)}</${kind === 3 ? 'em' : 'strong'}>`;
    if (kind === 5) return `<span class="${name()}">${words(3)}</span>`;
    if (kind === 6) return `<code>${name()}()</code>`;
    if (kind < 10) return `${words(2)}${pick(entities)}${words(3)}`;
    return words(8 + number(12));
  };
  const sentence = () => `${some(1 + number(4), phrase, ' ')}. `;
  const paragraph = () => `<p>${some(2 + number(4), sentence)}</p>\n`;
  return { ...dice, word, words, name, link, sentence, paragraph };
}

/** Calls for parts until the page is long enough. */
function fill(bytes, makePart) {
  const parts = [];
  for (let length = 0, at = 0; length < bytes; at += 1) {
    const part = makePart(at);
    parts.push(part);
    length += Buffer.byteLength(part);
  }
  return parts.join('');
}

const script = ({ name, number, some }) =>
  `<script>(function(w,d){var q=w["${name()}"]=w["${name()}"]||[];if(q.length<${number(50)}&&!d.hidden){${some(6, () => `q.push({id:${number(9999)},name:'${name()}',html:"<b>x<\\/b>"});`)}}})(window,document);</script>\n`;
const style = ({ name, number, some }) =>
  `<style>\n${some(12, () => `.${name()} > a:hover, #${name()} { margin: ${number(40)}px auto; color: #${number(899) + 100}; }\n`)}</style>\n`;
const data = ({ name, number, words }) =>
  `<script type="application/ld+json">{"@type":"Product","name":"${words(4)}","sku":"${number(90_000)}","offers":[{"price":"${number(900)}.00","url":"https:\\/\\/example.com\\/${name()}"}]}</script>\n`;
const icon = ({ name, number, some }) =>
  `<svg class="icon ${name()}" width="24" height="24" viewBox="0 0 24 24" aria-hidden="true"><g fill="none"><path d="M${some(8, () => `${number(24)} ${number(24)}`, 'L')}z"/><circle cx="${number(24)}" cy="12" r="3"/></g><use xlink:href="#${name()}"></use></svg>`;

const head = (author, language) => `<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${author.words(6)} &ndash; ${author.words(2)}</title>
${author.some(8, () => `<meta property="og:${author.word()}" content="${author.words(7)}">\n`)}${author.some(5, () => `<link rel="stylesheet" href="/assets/${author.name()}.css?v=${author.number(99_999)}">\n`)}<link rel="alternate" hreflang="${language}" href="https://example.com/${language}/">
${style(author)}${script(author)}<script src="/assets/${author.name()}.js" async defer></script>
<noscript><img src="/pixel?x=1&amp;y=2" alt=""></noscript>
</head>
`;
const menu = ({ some, link }) =>
  `<nav class="menu"><ul>${some(9, () => `<li class="menu-item has-children">${link()}<ul class="sub-menu">${some(4, () => `<li>${link()}</li>`)}</ul></li>\n`)}</ul></nav>\n`;

/** A whole page around what fills it. */
const page = (author, language, makePart) => `<!DOCTYPE html>
<html lang="${language}">
${head(author, language)}<body class="${author.name()} ${author.name()}">
<!-- ${author.words(6)} -->
<header id="top" class="header"><div class="inner">${icon(author)}${menu(author)}</div></header>
<main>
${fill(documentBytes, makePart)}
</main>
<footer class="footer"><div><div>${author.some(20, author.link, '\n')}</div><p>&copy; 2019 ${author.words(5)}</p></div></footer>
${script(author)}</body>
</html>
`;

function makeArticles(seed, language) {
  const author = createAuthor(seed, language);
  const { some, number, name, words, sentence, paragraph, link, chance } = author;
  return page(
    author,
    language,
    (at) => `<article id="post-${at}" class="post type-post ${name()}">
<h2 class="entry-title">${link()}</h2>
<div class="meta"><time datetime="2019-0${number(9) + 1}-12T10:00:00+02:00">${words(3)}</time> · <a href="/author/${name()}" rel="author">${words(2)}</a></div>
${some(3 + number(5), paragraph)}<figure><img src="/media/${number(99_999)}.jpg" srcset="/media/a.jpg 480w, /media/b.jpg 960w" sizes="100vw" width="960" height="540" alt="${words(5)}"><figcaption>${sentence()}</figcaption></figure>
<h3 id="${name()}">${words(5)}</h3>
<ul>\n${some(4, () => `<li>${sentence()}</li>\n`)}</ul>
<blockquote>${paragraph()}</blockquote>
${some(2, paragraph)}${chance(50) ? `<!-- ${name()}: ${words(9)} -->\n` : ''}${chance(30) ? script(author) : ''}</article>
`,
  );
}

function makeShop(seed, language) {
  const author = createAuthor(seed, language);
  const { some, number, name, words, word, chance } = author;
  return page(
    author,
    language,
    (
      at,
    ) => `<div class="col-xs-6 col-md-4 ${name()}"><div class="tile tile--${word()} js-tile" id="tile-${at}" data-id="${number(99_999)}" data-track='{"list":"${name()}","position":${at}}' data-price="${number(999)}.${number(90) + 10}">
  <div class="tile__media"><a href="/item/${name()}-${number(99_999)}.html" title="${words(4)}"><picture><source type="image/webp" srcset="/img/${number(9999)}.webp"><img class="lazy" src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==" data-src="/img/${number(9999)}.jpg" alt="${words(4)}"></picture></a></div>
  <div class="tile__body">
    <div class="tile__brand">${word()}</div>
    <h4 class="tile__name"><a href="/item/${number(99_999)}">${words(6)}</a></h4>
    <div class="rating" style="width: ${number(100)}%"><span class="visually-hidden">${number(5)} / 5</span>${chance(60) ? icon(author) : '<i class="star"></i><i class="star"></i>'}</div>
    <div class="price"><span class="price__now">${number(999)},99&nbsp;&euro;</span>${chance(40) ? `<s class="price__old">${number(999)},99 €</s>` : ''}</div>
    <ul class="facts">${some(3, () => `<li>${words(2)}</li>`)}</ul>
  </div>
  <form action="/cart/add" method="post"><input type="hidden" name="token" value="${number(99_999)}"><input type="number" name="count" value="1" min="1" disabled><button class="btn btn--primary" type="submit"><span>${words(2)}</span></button></form>
</div></div>
${chance(10) ? data(author) : ''}`,
  );
}

/** Tables with all their end tags, or with those that one may leave out left out. */
function makeTables(seed, isBrief) {
  const author = createAuthor(seed);
  const { some, number, name, words, word, link, chance } = author;
  const end = (tag) => (isBrief ? '\n' : `</${tag}>`);
  const cell = (at) => {
    if (at === 0) return `<td class="name">${link()}${end('td')}`;
    if (at === 1) return `<td>${word()} <small>${words(2)}</small>${end('td')}`;
    return `<td align="right" data-value="${number(9999)}">${chance(10) ? '&nbsp;' : `${number(9999)}.${number(90) + 10}`}${end('td')}`;
  };
  const row = (at) => `<tr${at % 3 === 0 ? ` class="${name()}"` : ''}>${some(8, cell)}${end('tr')}\n`;
  return page(
    author,
    'en',
    () =>
      `<table class="table ${name()}"><caption>${words(4)}</caption><colgroup><col width="20%"><col span="7"></colgroup>
<thead><tr>${some(8, () => `<th scope="col"><span>${word()}</span>${end('th')}`)}${end('tr')}${end('thead')}<tbody>
${some(40, row)}</tbody><tfoot><tr><td colspan="8">${words(7)}${end('td')}${end('tr')}</tfoot></table>
`,
  );
}

function makeForms(seed) {
  const author = createAuthor(seed, 'fr');
  const { some, number, name, words, word, chance } = author;
  const option = () =>
    `<option value="${number(999)}"${chance(5) ? ' selected' : ''}>${words(2)}${chance(50) ? '</option>' : ''}\n`;
  const field = (at) =>
    `<div class="field"><label for="f${at}">${words(3)} <abbr title="${words(2)}">*</abbr></label><input type="${chance(50) ? 'text' : 'checkbox'}" id="f${at}" name="${name()}" placeholder="${words(3)}" required autocomplete=off></div>\n`;
  return page(
    author,
    'fr',
    () => `<form class="${name()}" action="/search?a=1&b=2" method=get><fieldset><legend>${words(3)}</legend>
${some(8, field)}<select name="${word()}">${some(25, option)}</select>
<select name="more" multiple size=5><optgroup label="${words(2)}">${some(6, option)}<optgroup label="${words(2)}">${some(6, option)}</select>
<textarea name="text" rows="4">\n${words(12)} &lt;b&gt;</textarea>
<p><button type="submit" name="go">${words(2)}</button> <input type="reset"></fieldset></form>
`,
  );
}

/** Pages of people who write as it comes: no doctype, nothing closed, formatting that overlaps. */
function makeOldPage(seed) {
  const author = createAuthor(seed, 'de');
  const { some, number, pick, words, name } = author;
  const soup = [
    () => `<P>${words(20)}<BR>${words(12)} ${pick(strayEntities)}\n`,
    () => `<p><b>${words(3)}<i>${words(3)}</b>${words(4)}</i> ${words(9)}\n`,
    () => `<UL><LI>${some(5, () => words(6), '\n<LI>')}</UL>\n`,
    () =>
      `<font color=#003366 size=2><a href=${name()}.html>${words(3)}</a> | <a href='${name()}.html'>${words(2)}</font></a><br>\n`,
    () => `<center><h3>${words(4)}</h3></center><hr noshade size=1>\n`,
    () => `<dl><dt>${words(2)}<dd>${words(9)}<dt>${words(2)}<dd>${words(9)}</dl>\n`,
    () => `<a name="${name()}"><p>${words(15)}<p>${words(9)} < ${number(99)} > ${number(9)}\n`,
    () =>
      `<table border=0 cellpadding=2><tr><td>${words(5)}<td><b>${words(3)}</b><tr><td colspan=2>${words(9)}</table>\n`,
    () => `<div><u>${words(3)}<div>${words(8)}</u></div></div></span>\n`,
    () => `<table><tr><form><td>${words(3)}</td></form></tr>${words(2)}</table><nobr>${words(4)}</nobr>\n`,
  ];
  return `<HTML><HEAD><TITLE>${words(4)}</TITLE></HEAD>\n<BODY BGCOLOR="#FFFFFF" LINK=blue>\n${fill(documentBytes / 2, () => pick(soup)())}`;
}

/** What a framework writes: no white space, deep, long lists of classes, state as text. */
function makeApplication(seed) {
  const author = createAuthor(seed);
  const { some, number, words, name, link, chance } = author;
  const classes = () =>
    `flex items-center gap-${number(9)} px-${number(9)} md:w-1/${number(9)} hover:bg-${name()} css-${number(99_999)}`;
  const wrap = (depth, inside) =>
    depth === 0 ? inside : `<div class="${classes()}" data-v-${number(9999)}="">${wrap(depth - 1, inside)}</div>`;
  const state = () =>
    `<script id="state" type="application/json">{${some(30, () => `"${name()}":{"id":${number(9999)},"text":"${words(5)}","on":${chance(50)}}`, ',')}}</script>`;
  return page(author, 'en', (at) => {
    const inside = `<button type="button" aria-label="${words(3)}" aria-expanded="false" tabindex="0" data-props="{&quot;id&quot;:${number(999)},&quot;kind&quot;:&quot;${name()}&quot;}">${icon(author)}<span>${words(3)}</span></button><!--[--><p class="${classes()}">${words(12)}<!-- --> ${number(99)}</p><!--]-->${link()}`;
    return `${wrap(3 + number(6), inside)}${at % 12 === 0 ? state() : ''}${at % 20 === 0 ? `<template><my-${name()} slot="a">${words(3)}</my-${name()}></template>` : ''}`;
  });
}

/** Code, definitions, lists in lists, formulas. */
function makeManual(seed) {
  const author = createAuthor(seed);
  const { some, number, words, name, sentence, paragraph } = author;
  const code = () =>
    `<pre class="highlight"><code class="language-c">\n${some(10, () => `<span class="line"><span class="k">if</span> (<span class="n">${name()}</span> &lt; ${number(99)} &amp;&amp; x-&gt;y) {  <span class="c">/* ${words(4)} */</span></span>\n`)}</code></pre>\n`;
  const formula = () =>
    `<math><mrow><mi>x</mi><mo>=</mo><mfrac><mn>${number(9)}</mn><msup><mi>y</mi><mn>2</mn></msup></mfrac></mrow></math>`;
  return page(
    author,
    'en',
    (at) => `<section id="s${at}"><h2>${words(4)}<a class="anchor" href="#s${at}" aria-label="${words(2)}">¶</a></h2>
${some(3, paragraph)}${code()}<dl>${some(4, () => `<dt id="${name()}"><code>${name()}</code></dt><dd>${paragraph()}</dd>\n`)}</dl>
<ol>${some(3, () => `<li><p>${sentence()}</p><ul>${some(3, () => `<li>${sentence()}`)}</ul></li>\n`)}</ol>
<details><summary>${words(3)}</summary>${paragraph()}${formula()}</details></section>
`,
  );
}

/** Markup that code sets, each as it is read inside the element that is its context. */
function makeFragments(seed) {
  const author = createAuthor(seed);
  const { some, number, words, name, paragraph, link } = author;
  const parts = {
    div: () => `<h3>${words(4)}</h3>${paragraph()}<ul>${some(3, () => `<li>${link()}`)}</ul>`,
    tbody: () => `<tr class="${name()}"><td>${link()}</td><td>${number(999)}</td><td>${words(3)}</tr>\n`,
    select: () => `<option value="${number(99)}">${words(2)}\n`,
  };
  return Object.entries(parts).map(([context, part]) => ({ context, html: fill(fragmentBytes, part) }));
}

/** Each with the tag that it is to be read inside of, or `document`. */
export function makeTrainingPages() {
  const documents = [
    makeArticles(1, 'en'),
    makeArticles(2, 'de'),
    makeArticles(3, 'ru'),
    makeArticles(4, 'ja'),
    makeShop(5, 'en'),
    makeShop(6, 'fr'),
    makeShop(7, 'de'),
    makeTables(8, false),
    makeTables(9, true),
    makeForms(10),
    makeOldPage(11),
    makeApplication(12),
    makeManual(13),
  ];
  return [...documents.map((html) => ({ context: 'document', html })), ...makeFragments(14)];
}
