// planted: no-orphans
export const lonely = true;
