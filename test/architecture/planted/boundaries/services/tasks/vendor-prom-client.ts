// planted: vendor-prom-client
import * as vendor from 'prom-client';

export const used = vendor;
