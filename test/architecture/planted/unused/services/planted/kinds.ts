// planted: types
export const kinds = ['new', 'used'] as const;
export type Kind = (typeof kinds)[number];
