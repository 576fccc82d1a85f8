/** The part of kafkajs that `kafka-client.ts` mends: it has no types of its own. */
declare module 'kafkajs/src/network/requestQueue/index.js' {
  class RequestQueue {
    pending: unknown[];
    throttledUntil: number;
    throttleCheckTimeoutId: NodeJS.Timeout | null;
    checkPendingRequests(): void;
    scheduleCheckPendingRequests(): void;
  }
  export = RequestQueue;
}
