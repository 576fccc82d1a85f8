// planted: typescript/consistent-type-imports
import { EventEmitter } from 'node:events';

export const listenersOf = (emitter: EventEmitter): number => emitter.listenerCount('end');
