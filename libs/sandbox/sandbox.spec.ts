import { describeContainment } from './containment.contract.js';
import { createQuickJsSandbox } from './quickjs.js';
import { describeSandbox } from './sandbox.contract.js';

describeSandbox('QuickJS', () => createQuickJsSandbox({ workers: 2, spareWorkers: 2 }));
describeContainment('QuickJS', () => createQuickJsSandbox({ workers: 2, spareWorkers: 2 }));
