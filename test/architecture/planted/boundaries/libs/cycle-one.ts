// planted: no-cycles
import { two } from './cycle-two.js';

export const one = (): unknown => two;
