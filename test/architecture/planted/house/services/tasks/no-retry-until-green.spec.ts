// planted: no-retry-until-green
import { jest } from '@jest/globals';

jest.retryTimes(3);
