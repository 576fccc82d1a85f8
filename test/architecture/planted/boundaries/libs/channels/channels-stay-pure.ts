// planted: channels-stay-pure
import type { AppError } from '../runtime/errors.js';

export type Sent = AppError;
