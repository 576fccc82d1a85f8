// One page that is made to hurt, read once by one parser in a process of its own, so that neither the code that another page
// had compiled nor what it left in memory counts. Prints what it cost and how it ended.
import { loadParser } from '../conformance/parsers.mjs';
import { hurtfulPages } from './hurtful-pages.mjs';
import { makePage } from './pages.mjs';

const megabyte = 1024 * 1024;
/** A server has long compiled what ordinary pages need. */
const warmupPages = 300;

const { parserName, title } = JSON.parse(process.argv[2]);
const [parser, { defaultPageLimits, PageTooComplex }] = await Promise.all([
  loadParser(parserName),
  import('../../dist/libs/sandbox/parsers/page-parser.js'),
]);
const encode = (markup) => Buffer.from(markup, 'utf8');
const ordinary = encode(makePage('shop', 10_000, 1).html);
for (let count = 0; count < warmupPages; count += 1) parser.parsePage(ordinary, 'html', defaultPageLimits);

function ending(page) {
  try {
    parser.parsePage(page, 'html', defaultPageLimits);
    return 'read';
  } catch (thrown) {
    if (thrown instanceof PageTooComplex) return thrown.fault;
    throw thrown;
  }
}

const page = encode(hurtfulPages[title]());
const [memoryBefore, processorBefore] = [process.memoryUsage.rss(), process.cpuUsage()];
const end = ending(page);
const { user, system } = process.cpuUsage(processorBefore);
// What the process grew by at its peak: room that it had to spare is not in it.
const memoryMb = (process.resourceUsage().maxRSS * 1024 - memoryBefore) / megabyte;
process.stdout.write(JSON.stringify({ processorMs: (user + system) / 1_000, memoryMb, end }));
