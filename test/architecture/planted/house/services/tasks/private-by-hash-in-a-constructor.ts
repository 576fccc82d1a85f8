// planted: private-by-hash
export class Named {
  constructor(private readonly name: string) {}

  greeting(): string {
    return `Hello, ${this.name}`;
  }
}
