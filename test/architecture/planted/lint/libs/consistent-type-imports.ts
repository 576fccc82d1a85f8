// planted: typescript/consistent-type-imports
import { Named } from './clean.js';

export const nameOf = (named: Named): string => named.name;
