// planted: vendor-liquidjs
import * as vendor from 'liquidjs';

export const used = vendor;
