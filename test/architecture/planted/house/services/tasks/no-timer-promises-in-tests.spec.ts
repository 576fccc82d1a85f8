// planted: no-sleep-in-tests
import { setTimeout as pause } from 'node:timers/promises';

await pause(500);
