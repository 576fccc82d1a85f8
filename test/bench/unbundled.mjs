// The product as it is before it is joined into one file: a profile then tells its parts apart.
import { start } from '../../dist/services/host/main.js';

await start();
