/** The command line may print. */
export const greet = (): void => console.log('hello');
