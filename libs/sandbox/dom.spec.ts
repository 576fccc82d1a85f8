import { describeNodes } from './dom-nodes.contract.js';
import { describeDomOfPages } from './dom-page.contract.js';
import { describeReflection } from './dom-reflection.contract.js';
import { describeXmlPages } from './dom-xml.contract.js';
import { createQuickJsSandbox } from './quickjs.js';

describeDomOfPages('QuickJS', () => createQuickJsSandbox({ workers: 1, spareWorkers: 1 }));
describeNodes('QuickJS', () => createQuickJsSandbox({ workers: 1, spareWorkers: 1 }));
describeXmlPages('QuickJS', () => createQuickJsSandbox({ workers: 1, spareWorkers: 1 }));
describeReflection('QuickJS', () => createQuickJsSandbox({ workers: 1, spareWorkers: 1 }));
