// planted: typescript/no-misused-promises
export function each(items: readonly string[], save: (item: string) => Promise<void>): void {
  items.forEach(async (item) => {
    await save(item);
  });
}
