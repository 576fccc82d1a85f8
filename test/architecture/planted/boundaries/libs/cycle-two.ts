// The tool reports a cycle once, at its first file.
import { one } from './cycle-one.js';

export const two = (): unknown => one;
