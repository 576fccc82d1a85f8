// planted: typescript/await-thenable
function load(): number {
  return 1;
}

export async function wait(): Promise<number> {
  const loaded = await load();
  return loaded;
}
