// planted: no-mocked-modules
import { jest } from '@jest/globals';

jest.unstable_mockModule('#bus/bus', () => ({}));
