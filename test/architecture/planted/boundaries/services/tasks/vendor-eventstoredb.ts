// planted: vendor-eventstoredb
import * as vendor from '@eventstore/db-client';

export const used = vendor;
