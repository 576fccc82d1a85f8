/** The words of the server in German. */
import type { Wording } from '../../api/wording.js';
import { codeDe } from './code-de.js';
import { explainedDe } from './explained-de.js';
import { hintsDe } from './hints-de.js';
import { loadingDe } from './loading-de.js';
import { saidDe } from './said-de.js';
import { detailSaid, refusalSaid, sentenceSaid, type Saying } from './said.js';
import { deliveryReasonsDe, sentDe } from './sent-de.js';

/** What runs and messages come to. Sentences with a beginning of any kind come last. */
export const sentencesDe: readonly Saying[] = [...hintsDe, ...codeDe, ...loadingDe, ...explainedDe, ...sentDe];

export const wordingDe: Wording = {
  ofRefusal: (refusal) => refusalSaid(saidDe, refusal),
  ofDetail: (detail) => detailSaid(saidDe, detail),
  ofSentence: (sentence) => sentenceSaid(sentencesDe, sentence, saidDe.thousands),
  ofDeliveryReason: (reason) => (Object.hasOwn(deliveryReasonsDe, reason) ? (deliveryReasonsDe[reason] ?? null) : null),
};
