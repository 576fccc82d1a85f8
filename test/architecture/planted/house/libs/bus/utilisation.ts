/** A word that only ends like a forbidden one is allowed. */
export const bus = 1;
