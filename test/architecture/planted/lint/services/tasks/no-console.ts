// planted: no-console
export const shout = (): void => console.log('hello');
