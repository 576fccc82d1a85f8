import { start } from '../host/main.js';

await start();
