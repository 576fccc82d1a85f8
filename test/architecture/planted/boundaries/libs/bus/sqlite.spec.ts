import { DatabaseSync } from 'node:sqlite';
import { busContract } from './bus.contract.js';
import { sqliteBus } from './sqlite.js';

busContract(() => sqliteBus(new DatabaseSync(':memory:')));
