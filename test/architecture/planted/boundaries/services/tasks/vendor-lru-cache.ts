// planted: vendor-lru-cache
import * as vendor from 'lru-cache';

export const used = vendor;
