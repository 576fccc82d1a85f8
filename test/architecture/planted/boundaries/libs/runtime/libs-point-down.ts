// planted: libs-point-down
import type { Decider } from '#eventing/decider';

export type Above = Decider;
