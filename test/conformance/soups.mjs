// Markup that no author would write, from a seed: tags that belong nowhere, in any order, opened and closed at random.
import { createRandom } from '../bench/random.mjs';

const tags = (
  'a b i u p div span table tr td th tbody thead tfoot caption col colgroup ul li dl dt dd form button nobr font h1 h2 svg math ' +
  'mi mtext foreignObject desc title annotation-xml template textarea pre script style br img input hr applet marquee object ' +
  'body html head em address center option optgroup select frameset x-y ruby rt rp rb main details summary noscript iframe'
).split(' ');
const bits = [
  'text',
  ' ',
  '\n',
  '\r',
  '&amp;',
  '&notit;',
  '&#x41;',
  '&#128;',
  '\0',
  '<!-- c -->',
  '<!-->',
  '<![CDATA[x]]>',
  '</p>',
  '</br>',
  'é😀',
  '<!doctype html>',
  '<?x y?>',
  '&',
  '<',
  '</',
  '>',
  '"',
  "'",
  '=',
  '/',
];

/** A generator of soups: the same seed gives the same ones. */
export function createSoups(seed) {
  const random = createRandom(seed);
  const number = (below) => Math.floor(random() * below);
  const attributes = () => (number(4) > 0 ? '' : ` class="a b${number(3)}" id=x${number(9)} XLink:href=y`);
  const part = () => {
    const which = number(10);
    const tag = tags[number(tags.length)];
    if (which < 5) return `<${tag}${attributes()}${number(12) > 0 ? '' : '/'}>`;
    return which < 8 ? `</${tag}>` : bits[number(bits.length)];
  };
  return () => Array.from({ length: 5 + number(40) }, part).join('');
}

/** The parts that a soup can be shortened by, no surrogate pair cut. */
export function partsOf(soup) {
  return soup.match(/<[^<>]*>|[^<]|</gu) ?? [];
}

/** The shortest soup, one part at a time, that `differs` still holds for. */
export function shorten(soup, differs) {
  let parts = partsOf(soup);
  for (let at = 0; at < parts.length;) {
    const shorter = parts.toSpliced(at, 1);
    if (differs(shorter.join(''))) {
      parts = shorter;
      at = 0;
    } else at += 1;
  }
  return parts.join('');
}
