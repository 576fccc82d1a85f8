// planted: vendor-pngjs
import * as vendor from 'pngjs';

export const used = vendor;
