// planted: files
export const nobodyAsks = true;
