// planted: console-apart
import { AppError } from '../../../libs/runtime/errors.js';

export const Refusal = AppError;
