// planted: environment-in-one-place
const { env } = process;

export const home = env['HOME'];
