// planted: vendor-mongo
import * as vendor from 'mongoose';

export const used = vendor;
