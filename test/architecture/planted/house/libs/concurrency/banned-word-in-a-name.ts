// planted: words-of-the-glossary
export const newsMs = 3_600_000;
