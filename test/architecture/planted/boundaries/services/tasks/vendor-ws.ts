// planted: vendor-ws
import * as vendor from 'ws';

export const used = vendor;
