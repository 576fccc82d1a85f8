// planted: no-utils
export const bus = 1;
