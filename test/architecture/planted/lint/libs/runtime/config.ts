/** The one reader of the environment may do so. */
export const port = (): string => process.env['PORT'] ?? '3000';
