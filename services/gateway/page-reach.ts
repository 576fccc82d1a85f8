/** What of the outside a page can be loaded through: the door to the network, and a browser where there is one. */
import { Inject, Injectable } from '@nestjs/common';
import { OUTBOUND, type Outbound } from '#outbound/outbound';
import { BROWSER_SUPPORT, type BrowserSupport } from '#page-loader/page-loader';

@Injectable()
export class PageReach {
  constructor(
    @Inject(OUTBOUND) readonly outbound: Outbound,
    @Inject(BROWSER_SUPPORT) readonly rendering: BrowserSupport,
  ) {}
}
