/** The servers this run of the specs is given: none, or all three. */

export interface ServerAddresses {
  readonly eventStoreUrl: string;
  readonly busUrl: string;
  readonly readStoreUrl: string;
}

/** null: everything in one process. Throws where some are named and others are not. */
export function serversOfThisRun(): ServerAddresses | null {
  const { EVENT_STORE_URL: eventStoreUrl, BUS_URL: busUrl, READ_STORE_URL: readStoreUrl } = process.env;
  if (eventStoreUrl === undefined && busUrl === undefined && readStoreUrl === undefined) return null;
  if (eventStoreUrl === undefined || busUrl === undefined || readStoreUrl === undefined) {
    throw new Error('Set EVENT_STORE_URL, BUS_URL and READ_STORE_URL, all three (npm run servers -- up prints them).');
  }
  return { eventStoreUrl, busUrl, readStoreUrl };
}
