import { createQuickJsSandbox } from './quickjs.js';
import { describeSandbox } from './sandbox.contract.js';

describeSandbox('QuickJS', () => createQuickJsSandbox({ workers: 2, spareWorkers: 2 }));
