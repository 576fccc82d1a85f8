export interface Bus {
  publish(text: string): void;
}
