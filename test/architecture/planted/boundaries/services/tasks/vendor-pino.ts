// planted: vendor-pino
import * as vendor from 'pino';

export const used = vendor;
