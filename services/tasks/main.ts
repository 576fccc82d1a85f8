/** This service alone in a process of its own. */
import { start } from '../main.js';

await start(['tasks']);
