// planted: vendor-p-limit
import * as vendor from 'p-limit';

export const used = vendor;
