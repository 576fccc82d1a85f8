import { describeCookbook } from './cookbook.contract.js';
import { createQuickJsSandbox } from './quickjs.js';

describeCookbook('parse5', () => createQuickJsSandbox({ workers: 1, spareWorkers: 0 }));
