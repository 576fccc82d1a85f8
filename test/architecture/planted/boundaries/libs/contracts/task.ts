import { z } from 'zod';

export const taskSchema = z.object({ name: z.string() });
export type Task = z.infer<typeof taskSchema>;
