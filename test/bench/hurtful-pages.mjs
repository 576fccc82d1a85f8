// Pages that are made to hurt a parser: small in bytes, and great in what a browser makes of them.
const numbered = (count, markup) => Array.from({ length: count }, (_, at) => markup(at)).join('');
const misnested = (count) => '<b><i>'.repeat(count) + '</b>'.repeat(count);
const megabyte = 1_000_000;

/** Each page's markup, by what it is. */
export const hurtfulPages = {
  '500 × <b><i>, then as many </b>': () => misnested(500),
  '1,000 × <b><i>, then as many </b>': () => misnested(1_000),
  '2,000 × <b><i>, then as many </b>': () => misnested(2_000),
  '500 × <a><b><i><u><p>': () => '<a><b><i><u><p>'.repeat(500),
  '50,000 nested div': () => '<div>'.repeat(50_000),
  '20,000 attributes on one element': () => `<p ${numbered(20_000, (at) => `a${at} `)}>`,
  '4,000 × <html aN>': () => numbered(4_000, (at) => `<html a${at}>`),
  '1 MB of <': () => '<'.repeat(megabyte),
  '100,000 texts that a table moves out': () => `<table>${'<tr>x'.repeat(100_000)}`,
  '1 MB of a < b': () => 'a < b '.repeat(megabyte / 6),
  '200,000 br': () => '<br>'.repeat(200_000),
  '20,000 options beside a selectedcontent': () =>
    `<select><button><selectedcontent></button>${'<option>x'.repeat(20_000)}<option selected>y`,
  '100,000 texts that a table moves out, each behind a comment': () => `<table>${'<!-->x'.repeat(100_000)}`,
  '200,000 </q> inside 500 nested span': () => '<span>'.repeat(500) + '</q>'.repeat(200_000),
};
