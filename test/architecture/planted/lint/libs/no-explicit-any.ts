// planted: typescript/no-explicit-any
export const anything: any[] = [];
