// planted: vendor-yaml
import * as vendor from 'yaml';

export const used = vendor;
