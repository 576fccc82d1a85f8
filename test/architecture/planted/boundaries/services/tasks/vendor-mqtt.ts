// planted: vendor-mqtt
import * as vendor from 'mqtt';

export const used = vendor;
