// planted: responders-are-commands
import type { Bus } from '#bus/bus';

export const answerPings = (bus: Bus) => bus.respond('task.ping', async () => 'pong');
