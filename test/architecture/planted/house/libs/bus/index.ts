// planted: no-index-files
export const bus = 1;
