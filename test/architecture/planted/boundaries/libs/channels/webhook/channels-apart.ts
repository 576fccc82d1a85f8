// planted: channels-apart
import { type } from '../email/declaration.js';

export const borrowed = type;
