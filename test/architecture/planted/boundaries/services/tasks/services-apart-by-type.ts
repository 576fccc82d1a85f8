// planted: services-apart
import type { start } from '../main.js';

export type Start = typeof start;
