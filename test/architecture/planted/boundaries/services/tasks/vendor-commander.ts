// planted: vendor-commander
import * as vendor from 'commander';

export const used = vendor;
