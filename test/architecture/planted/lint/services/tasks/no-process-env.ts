// planted: node/no-process-env
export const home = (): string | undefined => process.env['HOME'];
