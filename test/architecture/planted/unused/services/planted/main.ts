import { kinds } from './kinds.js';
import { price, type Price } from './prices.js';

export const shown: Price = price(kinds.length);
