/** The console's own parts, which come from the server one by one. */

const againAfterMs = 1_000;

/** Loads a part once more where its connection broke. Rejects where it is not there then either. */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch {
    await new Promise((resolve) => setTimeout(resolve, againAfterMs));
    return load();
  }
}
