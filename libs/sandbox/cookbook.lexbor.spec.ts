import { describeCookbook } from './cookbook.contract.js';
import { createQuickJsSandbox } from './quickjs.js';

describeCookbook('lexbor', () => createQuickJsSandbox({ workers: 1, spareWorkers: 0, pageParser: 'lexbor' }));
