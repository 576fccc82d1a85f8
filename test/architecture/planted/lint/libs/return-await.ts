// planted: typescript/return-await
export async function guarded(work: () => Promise<number>): Promise<number> {
  try {
    return work();
  } catch {
    return 0;
  }
}
