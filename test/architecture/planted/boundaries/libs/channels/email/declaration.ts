export const type = 'email';
