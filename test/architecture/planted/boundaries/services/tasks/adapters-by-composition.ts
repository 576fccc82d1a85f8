// planted: adapters-by-composition
import { sqliteBus } from '#bus/sqlite';

export const bus = sqliteBus;
