/** What stands in an answer, a log or a record in place of a secret; sent back to the API, it keeps the secret. */
export const secretMask = '********';
