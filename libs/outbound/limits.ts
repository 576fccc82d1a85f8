/** How long and how much one exchange may take, whatever its caller allows. */

export interface OutboundLimits {
  /** TCP, each proxy and TLS: each of them. */
  readonly connectMs: number;
  /** A body must bring `trickleBytes` in every such window, or end. */
  readonly trickleWindowMs: number;
  readonly trickleBytes: number;
  /** A compressed body as it comes over the wire. */
  readonly wireBytes: number;
  readonly ratio: number;
  readonly ratioFromBytes: number;
  readonly connectionsPerOrigin: number;
  readonly idleConnections: number;
}

export const defaultOutboundLimits: OutboundLimits = {
  connectMs: 10_000,
  trickleWindowMs: 10_000,
  trickleBytes: 10_240,
  wireBytes: 5_242_880,
  ratio: 100,
  ratioFromBytes: 1_048_576,
  connectionsPerOrigin: 32,
  idleConnections: 256,
};
