// planted: declared-packages-only
import * as vendor from 'semver';

export const used = vendor;
