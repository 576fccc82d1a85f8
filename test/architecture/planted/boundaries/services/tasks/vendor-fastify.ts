// planted: vendor-fastify
import * as vendor from 'fastify';

export const used = vendor;
