// planted: vendor-diff
import * as vendor from 'diff';

export const used = vendor;
