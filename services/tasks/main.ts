/** This service alone in a process of its own. */
import { start } from '../host/main.js';

await start(['tasks']);
