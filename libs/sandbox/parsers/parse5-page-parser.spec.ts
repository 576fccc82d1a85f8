import { describePageParser } from './page-parser.contract.js';
import { parse5PageParser } from './parse5-page-parser.js';

describePageParser('parse5', () => parse5PageParser);
