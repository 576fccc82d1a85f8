// planted: domain-stays-pure
import { randomUUID } from 'node:crypto';

export const id = randomUUID;
