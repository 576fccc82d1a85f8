// planted: no-test-code-in-product
import { busContract } from '#bus/bus.contract';

export const suite = busContract;
