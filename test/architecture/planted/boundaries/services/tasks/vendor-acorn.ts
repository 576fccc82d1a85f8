// planted: vendor-acorn
import * as vendor from 'acorn';

export const used = vendor;
