// planted: vendor-css-what
import * as vendor from 'css-what';

export const used = vendor;
