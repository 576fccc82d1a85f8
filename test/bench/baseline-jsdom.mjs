// Baseline of `evaluate`: the same pages and code by jsdom and `node:vm`, in a process of its own, so that nobody else pays
// for the garbage that it leaves. Told which pages there are, then asked for one after the other by its number.
import vm from 'node:vm';
import { peer } from './peers.mjs';

const jsdom = await peer('jsdom');
let pages = [];

function evaluate({ html, code }) {
  const dom = new jsdom.JSDOM(html, { url: 'https://shop.example/' });
  const { document } = dom.window;
  const outcome = vm.runInNewContext(`(() => {\n${code}\n})()`, { document }, { timeout: 30_000 });
  dom.window.close();
  return outcome;
}

process.on('message', (asked) => {
  if ('pages' in asked) ({ pages } = asked);
  process.send('pages' in asked ? 'known' : evaluate(pages[asked.page]));
});
// Without it there is nothing to be asked for.
if (jsdom === null) process.disconnect();
else process.send('ready');
