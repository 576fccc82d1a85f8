// planted: vendor-kafkajs
import * as vendor from 'kafkajs';

export const used = vendor;
