// planted: one-sleep
import { setTimeout as wait } from 'node:timers/promises';

export const later = (): Promise<void> => wait(1);
