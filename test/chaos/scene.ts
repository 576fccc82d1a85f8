/** An installation with everything that can happen to it. */
import type { Installation } from '../e2e/kit/installation.js';
import type { Fault } from './fault.js';

export interface Scene {
  readonly name: string;
  readonly installation: Installation;
  readonly faults: readonly Fault[];
  /** Every process says that it is ready. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}
