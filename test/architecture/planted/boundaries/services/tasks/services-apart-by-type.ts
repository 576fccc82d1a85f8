// planted: services-apart
import type { start } from '../host/main.js';

export type Start = typeof start;
