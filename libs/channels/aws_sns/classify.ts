/** AWS SNS: what answers mean, by the code in their XML. */
import { classifyAs } from '../vendor-answers.js';

export const classifyAwsSns = classifyAs({
  vendor: 'AWS SNS',
  delivered: ({ text }) => /<MessageId>[^<]+<\/MessageId>/.test(text),
  codeOf: ({ text }) => /<Code>([A-Za-z.]{1,100})<\/Code>/.exec(text)?.[1] ?? null,
  lines: [
    { code: /^(?:Throttl|KMSThrottling|RequestThrottled|InternalError|ServiceUnavailable)/, means: 'retry' },
    { code: ['RequestExpired'], means: 'refused', because: 'set the clock of this instance' },
    {
      code: ['SignatureDoesNotMatch'],
      when: ({ text }) => /expired|not yet current/i.test(text),
      means: 'refused',
      because: 'set the clock of this instance',
    },
    {
      code: /^(?:AuthorizationError|InvalidClientTokenId|SignatureDoesNotMatch|AccessDenied.*|ExpiredToken|InvalidSecurity|KMSAccessDenied|NotFound|EndpointDisabled|PlatformApplicationDisabled|OptedOut)$/,
      means: 'gone',
      because: 'the key may not publish to the topic, or the topic is gone',
    },
    { status: [401, 403, 404], means: 'gone' },
    { status: [400], means: 'refused' },
  ],
});
