// planted: vendor-undici
import * as vendor from 'undici';

export const used = vendor;
