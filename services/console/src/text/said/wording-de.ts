/** The words of the server in German. */
import type { Wording } from '../../api/wording.js';
import { saidDe } from './said-de.js';
import { detailSaid, refusalSaid } from './said.js';

export const wordingDe: Wording = {
  ofRefusal: (refusal) => refusalSaid(saidDe, refusal),
  ofDetail: (detail) => detailSaid(saidDe, detail),
};
