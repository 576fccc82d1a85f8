// planted: words-of-the-glossary
/** Counts for whoever asks. */
export const count = (items: readonly unknown[]): number => items.length;
