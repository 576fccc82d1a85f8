// planted: suppressions-give-a-reason
// oxlint-disable-next-line no-console
export const one = 1;
