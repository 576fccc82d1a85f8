// planted: vendor-croner
import * as vendor from 'croner';

export const used = vendor;
