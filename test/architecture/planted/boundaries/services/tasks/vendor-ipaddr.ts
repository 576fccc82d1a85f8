// planted: vendor-ipaddr.js
import * as vendor from 'ipaddr.js';

export const used = vendor;
