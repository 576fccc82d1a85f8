// planted: typescript/no-unsafe-assignment
export function read(text: string): void {
  const value = JSON.parse(text);
  void value;
}
