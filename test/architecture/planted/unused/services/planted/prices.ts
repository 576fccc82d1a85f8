// planted: exports
export interface Price {
  readonly cents: number;
}

export function price(cents: number): Price {
  return { cents };
}

export function discounted(cents: number): number {
  return cents - 1;
}
