// planted: typescript/switch-exhaustiveness-check
export function tell(state: 'on' | 'off' | 'unknown'): string {
  let word = '';
  switch (state) {
    case 'on':
      word = 'lit';
      break;
    case 'off':
      word = 'dark';
      break;
  }
  return word;
}
