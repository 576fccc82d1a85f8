// planted: vendor-quickjs
import * as vendor from 'quickjs-emscripten-core';

export const used = vendor;
