// planted: resolvable
import { nothing } from '#bus/nowhere';

export const used = nothing;
