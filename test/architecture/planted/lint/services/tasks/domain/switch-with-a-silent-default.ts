// planted: typescript/switch-exhaustiveness-check
export function wordFor(state: 'on' | 'off' | 'unknown'): string {
  switch (state) {
    case 'on':
      return 'lit';
    case 'off':
      return 'dark';
    default:
      return '';
  }
}
