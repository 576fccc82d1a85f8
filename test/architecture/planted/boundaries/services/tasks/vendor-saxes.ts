// planted: vendor-saxes
import * as vendor from 'saxes';

export const used = vendor;
