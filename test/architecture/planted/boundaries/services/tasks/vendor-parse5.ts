// planted: vendor-parse5
import * as vendor from 'parse5';

export const used = vendor;
