// planted: suppressions-give-a-reason
/* oxlint-disable */
export const one = 1;
