// planted: vendor-openid-client
import * as vendor from 'openid-client';

export const used = vendor;
