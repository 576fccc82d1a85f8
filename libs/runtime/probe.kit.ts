/** For specs: waits for a thing itself, by asking again and again; the test's own deadline ends what never comes. */

/** What the probe finds at last. */
export async function found<T>(probe: () => Promise<T | null | false>, everyMs = 10): Promise<T> {
  for (;;) {
    const thing = await probe();
    if (thing !== null && thing !== false) return thing;
    await lasting(everyMs);
  }
}

/** How long an interruption lasts that a spec makes. Not for waiting until something is there. */
export function lasting(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
