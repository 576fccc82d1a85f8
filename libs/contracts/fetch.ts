/** How a task's page is loaded. */
import { z } from 'zod';
import { certificatesIn, normalFingerprint } from '#outbound/certificates';
import { separatorFault } from '#runtime/address-credentials';
import { httpHeaders } from '#runtime/http-headers';
import { isJsonObject, type JsonObject } from '#runtime/json';
import { secretMask } from '#runtime/secret-mask';
import { jsonObject } from './common.js';

const statusPattern = z
  .string()
  .regex(/^[1-5](xx|[0-9]{2})$/, { error: 'must be a status such as "404" or a class such as "2xx"' });

/** A proxy's address; here credentials belong inside and are treated as secrets. */
const proxyAddress = z
  .string()
  .max(2_048)
  .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), {
    error: ({ input }) =>
      separatorFault(String(input), 'nothing') ?? 'must be an address such as http://user:password@proxy.example:3128',
  });

/** No control characters (Cc), as a range that any engine reads. */
const plainText = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** RFC 7617: a colon would end the user name, and nothing that is no text can be sent. */
const credentialText = z.string().max(500).regex(plainText, { error: 'must be text without control characters' });
const basicAuth = z.strictObject({
  type: z.literal('basic').describe('Basic authentication (RFC 7617).'),
  username: credentialText.regex(/^[^:]*$/, { error: 'cannot have a colon' }).describe('The user name.'),
  password: credentialText.meta({ writeOnly: true }).describe('The password.'),
});

function isPem(text: string): boolean {
  try {
    return certificatesIn(text).length > 0;
  } catch {
    return false;
  }
}

/** What is trusted at the page's own host. */
const tls = z
  .strictObject({
    ca: z
      .string()
      .max(65_536)
      .refine(isPem, { error: 'must be certificates in PEM (-----BEGIN CERTIFICATE-----)' })
      .describe('PEM of the authority that signed the certificate, or of the certificate itself.')
      .optional(),
    fingerprint: z
      .string()
      .max(200)
      .refine((text) => normalFingerprint(text).length === 95, {
        error: 'must be a SHA-256 fingerprint: 64 hexadecimal digits, with or without colons',
      })
      .describe('SHA-256 of the one certificate that is accepted, whatever signed it.')
      .optional(),
  })
  .refine(({ ca, fingerprint }) => ca !== undefined || fingerprint !== undefined, {
    error: 'needs ca, fingerprint or both',
  });

const httpAddress = (value: string): boolean => {
  const url = URL.parse(value, 'https://relative.invalid/');
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
};

const stepNeeds = {
  goto: ['value'],
  click: ['selector'],
  fill: ['selector', 'value'],
  press: ['value'],
  select: ['selector', 'value'],
  wait: [],
} as const;

export const browserStep = z
  .strictObject({
    do: z.enum(['goto', 'click', 'fill', 'press', 'select', 'wait']).describe('What is done.'),
    selector: z.string().min(1).max(1_000).optional().describe('On which element, the first that matches.'),
    value: z
      .string()
      .max(4_096)
      .optional()
      .describe('goto: an address; fill: the text; press: a key; select: an option; wait: seconds.'),
    secret: z.boolean().optional().describe('Of fill: false shows its value. It is a secret otherwise.'),
  })
  .superRefine((step, { addIssue }) => {
    const fault = (path: string, message: string): void => addIssue({ code: 'custom', path: [path], message });
    for (const name of stepNeeds[step.do]) if (step[name] === undefined) fault(name, `is needed by ${step.do}`);
    if (step.do === 'goto' && step.value !== undefined && !httpAddress(step.value)) {
      fault('value', 'must be an http or https address without credentials, absolute or relative to the page');
    }
    if (step.do === 'wait') {
      if (step.selector === undefined && step.value === undefined)
        fault('selector', 'or value (seconds) is needed by wait');
      if (step.value !== undefined && !/^(?:[0-9]|[1-5][0-9]|60)(?:\.[0-9]{1,3})?$/.test(step.value)) {
        fault('value', 'must be seconds from 0 to 60');
      }
    }
    if (step.secret !== undefined && step.do !== 'fill') fault('secret', 'belongs to fill');
  })
  .meta({ id: 'BrowserStep' });

const browserSettings = z
  .strictObject({
    waitFor: z.string().min(1).max(1_000).default('load').describe('`load`, `networkidle` or a selector.'),
    waitSeconds: z.number().min(0).max(60).default(0).describe('After that.'),
    viewport: z
      .strictObject({
        width: z.int().min(200).max(3_840).default(1_280).describe('In pixels.'),
        height: z.int().min(200).max(2_160).default(800).describe('In pixels.'),
      })
      .prefault({})
      .describe('The window.'),
    steps: z.array(browserStep).max(50).default([]).describe('Done in order before the page is read.'),
    keepSession: z
      .boolean()
      .default(false)
      .describe('Whether the next run begins with the cookies and the local storage of this one.'),
    block: z
      .array(z.enum(['images', 'media', 'fonts', 'trackers']))
      .max(4)
      .default(['images', 'media', 'fonts', 'trackers'])
      .describe('What is not asked for; [] lets everything through.'),
    screenshot: z
      .enum(['transition', 'always', 'never'])
      .default('transition')
      .describe('When a screenshot is kept with the run: `transition` where something changed or failed.'),
  })
  .meta({ id: 'BrowserSettings' });

export const fetchSettings = z
  .strictObject({
    mode: z
      .enum(['http', 'browser'])
      .default('http')
      .describe('`http` reads the answer as it is sent; `browser` renders it first.'),
    method: z
      .enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      .default('GET')
      .describe('Of the request.'),
    headers: httpHeaders
      .default({})
      .describe('Sent with the request; the values of those whose names speak of secrets are masked.'),
    body: z
      .string()
      .max(65_536)
      .nullable()
      .default(null)
      .describe('Of the request; without a Content-Type of its own it gets one by what it is.'),
    auth: basicAuth.nullable().optional().describe('User name and password for the page’s own origin.'),
    tls: tls.nullable().optional().describe('What is trusted at the page’s own host.'),
    bodyIsSecret: z
      .boolean()
      .optional()
      .describe('Stored encrypted, masked in answers. A body that looks like a login is so without being marked.'),
    timeoutSeconds: z.int().min(1).max(120).default(30).describe('For all of it; the first byte may take all of that.'),
    maxBytes: z.int().min(1_024).max(52_428_800).default(10_485_760).describe('A larger page fails with `too_large`.'),
    followRedirects: z.boolean().default(true).describe('Whether redirects are followed, five at most.'),
    acceptStatus: z
      .array(statusPattern)
      .min(1)
      .max(20)
      .default(['2xx'])
      .describe('Statuses (`404`) and classes (`2xx`) that are taken for a page.'),
    userAgent: z
      .string()
      .min(1)
      .max(500)
      .regex(/^[\u0020-\u007e\u00a0-\u00ff]*$/, { error: 'must be printable text on one line' })
      .nullable()
      .default(null)
      .describe('In place of the own one.'),
    proxy: proxyAddress.nullable().default(null).describe('Goes out through this proxy; a password inside is masked.'),
    browser: browserSettings.optional().describe('How a browser renders the page, where mode is `browser`.'),
    retry: z
      .strictObject({
        attempts: z.int().min(1).max(5).default(2).describe('The first included.'),
        strategy: z.enum(['fixed', 'exponential']).default('exponential').describe('How the waits grow.'),
        baseSeconds: z.number().min(0.1).max(60).default(1).describe('The first wait.'),
      })
      .prefault({})
      .describe('When a load fails in a way that may pass.'),
  })
  .meta({ id: 'Fetch' });
export type FetchSettings = z.infer<typeof fetchSettings>;

const credentialNames = /pass(word|wd|phrase|code)?|pwd|secret|token|credential|api[-_]?key|\bpin\b|\botp\b/i;
/** The names of a form's fields, of JSON's members, of XML's elements; what stands behind them is not looked at. */
const bodyNames = /(?:^|[&\n])([^&=\n]{1,100})=|"([^"\\]{1,100})"\s*:|<([A-Za-z_][^\s<>/]{0,99})/g;

/** Whether a request's body is stored encrypted and masked in answers: marked so, or it has a field that names a credential. */
export function isSecretBody({ body, bodyIsSecret }: JsonObject): boolean {
  if (typeof body !== 'string') return false;
  if (bodyIsSecret === true || body === secretMask) return true;
  return body
    .matchAll(bodyNames)
    .some(([, field, member, element]) => credentialNames.test(field ?? member ?? element ?? ''));
}

/** What is sealed of them before they are stored: headers of every name, the proxy with its credentials, the password, a secret body. */
export function sealedFetchPaths(settings: JsonObject): readonly string[] {
  const steps = stepsOf(settings).some(isSecretStep) ? ['browser.steps'] : [];
  return ['headers.*', 'proxy', 'auth.password', ...(isSecretBody(settings) ? ['body'] : []), ...steps];
}

/** What is done on a page before it is read; none where nothing is. */
export function stepsOf({ browser }: JsonObject): readonly JsonObject[] {
  const steps = isJsonObject(browser) ? browser['steps'] : [];
  return Array.isArray(steps) ? steps.filter(isJsonObject) : [];
}

/** What is filled in is a secret unless its author says that it is none. */
export function isSecretStep({ do: what, secret }: JsonObject): boolean {
  return what === 'fill' && secret !== false;
}

/** As stored: sealed values stand where secrets were. */
export const storedFetch = jsonObject;
