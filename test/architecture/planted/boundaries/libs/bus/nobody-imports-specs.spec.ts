// planted: nobody-imports-specs
import './sqlite.spec.js';
