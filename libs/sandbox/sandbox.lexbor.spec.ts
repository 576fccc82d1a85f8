/** Needs what `npm run build:parser` makes; fails where it is not there. */
import { describeContainment } from './containment.contract.js';
import { describeNodes } from './dom-nodes.contract.js';
import { describeDomOfPages } from './dom-page.contract.js';
import { describeReflection } from './dom-reflection.contract.js';
import { describeXmlPages } from './dom-xml.contract.js';
import { createQuickJsSandbox } from './quickjs.js';
import type { Sandbox } from './sandbox.js';
import { describeSandbox } from './sandbox.contract.js';

const create = (): Sandbox => createQuickJsSandbox({ workers: 2, spareWorkers: 2, pageParser: 'lexbor' });

describeSandbox('QuickJS with lexbor', create);
describeContainment('QuickJS with lexbor', create);
describeNodes('QuickJS with lexbor', create);
describeXmlPages('QuickJS with lexbor', create);
describeDomOfPages('QuickJS with lexbor', create);
describeReflection('QuickJS with lexbor', create);
