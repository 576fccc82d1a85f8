// planted: typescript/use-unknown-in-catch-callback-variable
export const outcome = async (work: Promise<string>): Promise<string> =>
  await work.catch((error: Error) => error.message);
