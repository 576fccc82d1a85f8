import { owns } from '../accounts/member.js';
import { decider } from '../tasks/domain/task.js';

export async function compose(): Promise<unknown> {
  const { sqliteBus } = await import('#bus/sqlite');
  return [sqliteBus, owns, decider];
}
