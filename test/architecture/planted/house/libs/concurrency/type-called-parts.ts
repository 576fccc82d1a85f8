// planted: words-of-the-glossary
export interface CounterParts {
  readonly count: number;
}
