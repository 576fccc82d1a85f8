// planted: vendor-playwright
import * as vendor from 'playwright-core';

export const used = vendor;
