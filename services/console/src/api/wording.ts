/** In which words refusals, failures and what became of messages are shown: those of the server, or those of the reader's language, loaded when they are needed. */

export interface ProblemDetail {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** Why something was not done, with its codes, as the server says it. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
  readonly details?: readonly ProblemDetail[];
}

export interface Wording {
  readonly ofRefusal: (refusal: Refusal) => Refusal;
  readonly ofDetail: (detail: ProblemDetail) => ProblemDetail;
  /** What a run, an explanation or an attempt says; null where there is no text for it. */
  readonly ofSentence: (sentence: string) => string | null;
  /** Why a delivery ended, by its code; null likewise. */
  readonly ofDeliveryReason: (reason: string) => string | null;
}

interface Spoken {
  readonly notConnected: string;
  /** Null: the server's own words are in this language. */
  readonly load: (() => Promise<Wording>) | null;
}

const asSaid: Wording = {
  ofRefusal: (refusal) => refusal,
  ofDetail: (detail) => detail,
  ofSentence: () => null,
  ofDeliveryReason: () => null,
};
let spoken: Spoken = { notConnected: 'The server could not be reached.', load: null };

export function speak(language: Spoken): void {
  spoken = language;
}

export async function wording(): Promise<Wording> {
  try {
    return (await spoken.load?.()) ?? asSaid;
  } catch {
    // A server of another version has another file for it: until the page is loaded anew its own words are shown.
    return asSaid;
  }
}

/** The words are there without the server. */
export const notConnectedWords = (): string => spoken.notConnected;
