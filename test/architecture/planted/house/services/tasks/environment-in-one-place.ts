// planted: environment-in-one-place
import { env } from 'node:process';

export const home = env['HOME'];
