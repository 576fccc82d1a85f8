// planted: typescript/only-throw-error
export function fail(): never {
  throw 'no';
}
