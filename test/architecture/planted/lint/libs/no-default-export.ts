// planted: import/no-default-export
export default function nameless(): number {
  return 1;
}
