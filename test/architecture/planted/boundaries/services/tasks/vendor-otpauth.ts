// planted: vendor-otpauth
import * as vendor from 'otpauth';

export const used = vendor;
