/** Settings of tasks as specs need them. */

/** A check by hand alone; true while the element `#stock` of the page says that it is in stock. */
export function byHand(url: string): {
  readonly name: string;
  readonly url: string;
  readonly evaluationFunction: string;
  readonly schedule: { readonly type: 'manual' };
} {
  return { ...whenInStock(url), schedule: { type: 'manual' } };
}

/** As a user would write it: every second, true while the element `#stock` says that it is in stock. */
export function whenInStock(url: string) {
  return {
    name: 'Stock',
    url,
    evaluationFunction: "return document.querySelector('#stock').textContent === 'in stock';",
    schedule: { type: 'interval', intervalSeconds: 1 },
  } as const;
}
