/** For specs: what it is like to read events of an earlier version. The catalogue is put back by `restore`. */
import { eventCatalogue } from './catalogue.js';
import type { Upcast } from './event.js';

/** The present shape of this event counts as version 2, and what is stored as version 1 is led there by `upcast`. */
export function plantVersion2(type: string, upcast: Upcast): { restore(): void } {
  const present = eventCatalogue[type];
  if (present === undefined) throw new Error(`${type} is not in the event catalogue`);
  Object.assign(eventCatalogue, { [type]: { ...present, version: 2, upcast: [upcast] } });
  return { restore: () => Object.assign(eventCatalogue, { [type]: present }) };
}
