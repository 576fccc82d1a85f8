/** HTTP for a page that somebody looks at before there is a task: checked like a task's, loaded by the execution service. */
import { Controller, Inject } from '@nestjs/common';
import { BUS, type Bus } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import { sealedFetchPaths } from '#contracts/fetch';
import { packedPreview, unpackPreview } from '#contracts/page-preview';
import { data, type Answer } from '#http/envelope';
import { Call, Handles, type RouteCall } from '#http/route';
import { OUTBOUND, type Outbound } from '#outbound/outbound';
import { BROWSER_SUPPORT, type BrowserSupport } from '#page-loader/page-loader';
import { VAULT, type Vault } from '#vault/vault';
import { checkPage } from './check-settings.js';
import { toJsonObject } from './json-casts.js';
import * as routes from './page-preview.routes.js';
import { secretsOfFetch, unmasked } from './secrets.js';
import { fetchScope } from './task-answer.js';

/** Longer than the page may take to load, and its elements to be listed. */
const deadlineMs = 75_000;

@Controller()
export class PagePreviewController {
  readonly #bus: Bus;
  readonly #vault: Vault;
  readonly #outbound: Outbound;

  readonly #rendering: BrowserSupport;

  constructor(
    @Inject(BUS) bus: Bus,
    @Inject(VAULT) vault: Vault,
    @Inject(OUTBOUND) outbound: Outbound,
    @Inject(BROWSER_SUPPORT) rendering: BrowserSupport,
  ) {
    this.#rendering = rendering;
    this.#bus = bus;
    this.#vault = vault;
    this.#outbound = outbound;
  }

  @Handles(routes.previewPage)
  async preview(@Call() { body, context }: RouteCall<typeof routes.previewPage>): Promise<Answer> {
    checkPage({ outbound: this.#outbound, rendering: this.#rendering }, body);
    const fetch = unmasked(toJsonObject(body.fetch), null, secretsOfFetch, ['fetch']);
    const sealed = await this.#vault.seal(context.organizationId, fetchScope, fetch, sealedFetchPaths(fetch));
    const query = { url: body.url, fetch: sealed };
    const request = body.fetch.mode === 'browser' ? requests.renderPreview : requests.runPreview;
    const reply = await this.#bus.request(request, query, context, deadlineMs);
    return data(await unpackPreview(packedPreview.parse(reply)));
  }
}
