// planted: channels-stay-pure
import type { Task } from '../contracts/task.js';

export type Sent = Task;
