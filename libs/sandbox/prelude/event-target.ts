/** `EventTarget`: the page is at rest, so what happens is what code dispatches. */
import { lazyModule } from './lazy-modules.js';

const events = lazyModule('events');

export class EventTarget {
  addEventListener(type: unknown, listener: unknown, options?: unknown): void {
    events().addListener(this ?? globalThis, type, listener, options);
  }
  removeEventListener(type: unknown, listener: unknown, options?: unknown): void {
    events().removeListener(this ?? globalThis, type, listener, options);
  }
  dispatchEvent(event: unknown): boolean {
    return events().dispatch(this ?? globalThis, event);
  }
}
