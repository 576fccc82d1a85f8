export function installDom(): void {}
export function openDocument(_url: string, _task: string): object {
  return {};
}
