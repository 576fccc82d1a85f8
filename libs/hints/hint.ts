/** What to do about a run that failed: one sentence for each reason that has one. Pure. */
import type { NotificationKind } from '#contracts/action';
import type { RunError } from '#contracts/run';
import type { LoadFailureReason } from '#page-loader/page-loader';

/** One for each way in which a page cannot be loaded. */
const loading: Readonly<Record<LoadFailureReason, string>> = {
  address_denied: 'Addresses that are not public are reached where EGRESS_ALLOW names them, such as 127.0.0.1/32.',
  dns_failed: 'The name does not lead anywhere from this machine; is it spelt right?',
  connect_failed: 'Nobody listens there, or something on the way refuses; try the address from this machine.',
  tls_failed:
    'A server without TLS is reached by http://. Of one with TLS, fetch.tls takes an authority of your own (ca) or one certificate alone (fingerprint); EGRESS_CA_FILE names authorities for the whole instance.',
  timed_out: 'fetch.timeoutSeconds gives the page more time, up to 120.',
  http_status: 'The statuses in fetch.acceptStatus are taken for a page; the default is ["2xx"].',
  too_large: 'fetch.maxBytes takes larger pages, up to 52428800.',
  too_many_redirects: 'A site that asks for cookies or a login often sends visitors in circles; try the last address.',
  protocol_error:
    'Try the address from this machine: what answers there may be no web server, or something on the way.',
  bad_encoding: 'fetch.headers can ask for another form of the page, such as Accept-Encoding: identity.',
  own_network:
    'Other sites are out of reach too, so look at the network of this machine; the task need not be changed.',
  browser_unavailable:
    'Install Chromium or name a browser in BROWSER; what needs no scripts is read with fetch.mode: "http".',
  step_failed: 'fetch.browser.steps has the steps; POST /api/pages/preview shows the page and selectors that match.',
  wait_failed: 'fetch.browser.waitFor says what is waited for, fetch.timeoutSeconds how long everything may take.',
  browser_crashed: 'Try with more in fetch.browser.block, or read the page without its scripts by fetch.mode: "http".',
  browser_limit: 'More in fetch.browser.block makes the page lighter; fetch.mode: "http" reads it without its scripts.',
  not_a_page: 'A file is read with fetch.mode: "http", where page.text is what it holds and page.json() what it means.',
};

/** And for what ends the code. */
const hints: Readonly<Record<string, string>> = {
  ...loading,
  not_boolean: 'Return true or false: compare, as in `return price < 100`, or write `return found !== null`.',
  number_not_found: 'If there may be none, write page.number(…, { or: null }) and compare that.',
  not_a_number: 'Look at what it was calculated from; only numbers that are finite are recorded.',
  value_lost: 'Look at the page: the code finds something else there, or nothing. Changing the code begins anew.',
  never_settled: 'There are no timers and no network in the sandbox, so nothing can settle that promise.',
  cpu_limit: 'Look for a loop that does not end; EVALUATION_CPU_MS raises the limit for the whole instance.',
  memory_limit: 'EVALUATION_MEMORY_MB raises the limit for the whole instance.',
  stack_limit: 'A function calls itself without an end.',
  output_limit: 'Log and report less: the text of the one element that counts, not of the whole page.',
  state_limit: 'page.state holds a JSON object of at most 16 KiB: keep a key, a hash or a count, not the page.',
};

/** The sandbox's own hint, which knows the code, or that of the reason; null where there is nothing to add. */
export function hintFor({ reason, hint }: Pick<RunError, 'reason' | 'hint'>): string | null {
  return hint ?? hints[reason] ?? null;
}

/** What a message about a run says besides its sentence. */
export function adviceOn(
  kind: NotificationKind,
  error: Pick<RunError, 'reason' | 'hint'> | null,
): { readonly hint?: string } {
  const hint = kind === 'error' && error !== null ? hintFor(error) : null;
  return hint === null ? {} : { hint };
}
