export const limits = { name: 200 };
