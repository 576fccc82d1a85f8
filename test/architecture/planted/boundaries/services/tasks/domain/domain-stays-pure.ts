// planted: domain-stays-pure
import type { Bus } from '#bus/bus';

export const tell = (bus: Bus): void => bus.publish('x');
