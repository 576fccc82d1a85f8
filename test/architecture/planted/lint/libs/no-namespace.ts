// planted: typescript/no-namespace
export namespace Old {
  export const count = 1;
}
