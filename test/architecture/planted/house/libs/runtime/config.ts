/** The one reader of the environment. */
export const home = process.env['HOME'];
