// planted: vendor-sqlite
import * as vendor from 'node:sqlite';

export const used = vendor;
