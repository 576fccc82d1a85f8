// planted: no-enums
export enum Light {
  on,
  off,
}
