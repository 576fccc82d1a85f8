// planted: nothing-left-to-do
// TODO: think again
export const one = 1;
