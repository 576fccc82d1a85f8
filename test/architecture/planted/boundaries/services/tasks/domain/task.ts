import type { Task } from '#contracts/task';
import type { Decider } from '#eventing/decider';
import { AppError } from '#runtime/errors';
import { z } from 'zod';
import { limits } from './limits.js';

export const name = z.string().max(limits.name);
export const decider: Decider<Task> = { initial: { name: '' } };
export const refuse = (): AppError => new AppError('no');
