// planted: typescript/no-unsafe-member-access
export function run(text: string): void {
  void JSON.parse(text).name;
}
