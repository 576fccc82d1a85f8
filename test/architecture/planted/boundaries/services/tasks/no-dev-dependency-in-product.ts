// planted: no-dev-dependency-in-product
import * as vendor from 'fast-check';

export const used = vendor;
