// planted: vendor-argon2
import * as vendor from '@node-rs/argon2';

export const used = vendor;
