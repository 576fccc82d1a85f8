// Loaded into the product by specs: every name leads to one address, at which the spec's own proxy answers (`vendors.ts`).
import { Resolver } from 'node:dns/promises';

const address = '93.184.216.34';

Resolver.prototype.resolve4 = async () => [address];
Resolver.prototype.resolve6 = async () => [];
