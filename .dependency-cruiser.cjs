/**
 * Who may import whom. Each rule has a planted violation in test/architecture/planted/boundaries that must be reported,
 * so a rule that stopped working is noticed. A rule added here brings its planted file in the same commit.
 */

/** Specs, contract suites and the given/when/then kit: run by Jest, left out of the build. */
const tests = '\\.(spec|contract|kit)\\.ts$|^libs/eventing/given\\.ts$';

/** The vendor packages, and the one place that may import each. A second place is a sign of a missing port. */
const homes = {
  undici: ['undici', '^libs/outbound/'],
  'ipaddr.js': ['ipaddr\\.js', '^libs/(outbound|http)/'],
  parse5: ['parse5', '^libs/sandbox/'],
  saxes: ['(saxes|xmlchars)', '^libs/sandbox/'],
  quickjs: ['(quickjs-emscripten[^/]*|@jitl/[^/]+)', '^libs/sandbox/'],
  nodemailer: ['nodemailer', '^libs/mail/(smtp|compose)\\.ts$'],
  fastify: ['(fastify|@fastify/[^/]+|@nestjs/platform-fastify)', '^(services/gateway|libs/http)/'],
  'prom-client': ['prom-client', '^libs/runtime/metrics\\.ts$'],
  pino: ['(pino|pino-pretty)', '^libs/runtime/logger\\.ts$'],
  liquidjs: ['liquidjs', '^libs/templates/'],
  argon2: ['@node-rs/argon2', '^services/accounts/'],
  otpauth: ['otpauth', '^services/accounts/one-time-codes\\.ts$'],
  'openid-client': ['openid-client', '^services/accounts/oidc/'],
  playwright: ['playwright-core', '^libs/page-loader/browser/'],
  croner: ['croner', '^libs/calendar/'],
  diff: ['diff', '^(libs/hints|services/console)/'],
  yaml: ['yaml', '^libs/http/yaml\\.ts$'],
  'lru-cache': ['lru-cache', '^libs/concurrency/lru\\.ts$'],
  acorn: ['acorn', '^libs/sandbox/code/code-tree\\.ts$'],
  commander: ['commander', '^services/host/cli(\\.ts|/)'],
  mqtt: ['mqtt', '^services/delivery/peers/mqtt\\.ts$'],
  ws: ['ws', '^libs/page-loader/browser/browser-host\\.ts$'],
  kafkajs: ['kafkajs', '^libs/bus/kafka[^/]*\\.ts$'],
  mongo: ['(mongoose|mongodb)', '^libs/(mongo/|(read-store|snapshots)/mongo)[^/]*\\.ts$'],
  eventstoredb: ['(@eventstore/db-client|@grpc/grpc-js)', '^libs/event-store/eventstoredb[^/]*\\.ts$'],
};

/** The libraries, each above those that it may import. Folders that need each other are one folder, or miss a third. */
const libraries = [
  'runtime',
  'concurrency',
  'sqlite',
  'mongo',
  'outbound',
  'templates',
  'event-store',
  'read-store',
  'shared-state',
  'leases',
  'sandbox',
  'snapshots',
  'page-loader',
  'channels',
  'mail',
  'contracts',
  'calendar',
  'hints',
  'bus',
  'eventing',
  'vault',
  'http',
];

const libraryRules = libraries.map((library, place) => ({
  name: 'libs-point-down',
  comment: `libs/${library} imports only libraries that stand before it in the list; what both need belongs below both.`,
  severity: 'error',
  from: { path: `^libs/${library}/`, pathNot: tests },
  to: { path: '^libs/[^/]+/', pathNot: `^libs/(${libraries.slice(0, place + 1).join('|')})/` },
}));

const vendorRules = Object.entries(homes).map(([name, [packages, home]]) => ({
  name: `vendor-${name}`,
  comment: `${name} has one home (${home}); elsewhere use the port or the helper that wraps it.`,
  severity: 'error',
  from: { path: '^(services|libs)/', pathNot: [home, tests] },
  to: { path: `(^|/)node_modules/${packages}(/|$)|^${packages}(/|$)` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'domain-stays-pure',
      comment:
        'A domain folder holds deciders: pure functions over values. It imports itself, the contracts, the calendar, the decider type, errors, ids and JSON types, and zod.',
      severity: 'error',
      from: { path: '^services/([^/]+)/domain/', pathNot: tests },
      to: {
        pathNot: [
          '^services/$1/domain/',
          '^libs/(contracts|calendar)/',
          '^libs/eventing/decider\\.ts$',
          '^libs/runtime/(errors|ids|json)\\.ts$',
          '(^|/)node_modules/zod(/|$)',
        ],
      },
    },
    {
      name: 'channels-stay-pure',
      comment:
        'A channel makes requests and judges answers as values; services/delivery sends them. It knows no contract, so that the contracts can be made of its declaration.',
      severity: 'error',
      from: { path: '^libs/channels/', pathNot: tests },
      to: {
        pathNot: [
          '^libs/channels/',
          '^libs/concurrency/retry-after\\.ts$',
          '^libs/outbound/outbound\\.ts$',
          '^libs/runtime/(address-credentials|http-headers|json|secret-mask)\\.ts$',
          '^libs/sandbox/sandbox\\.ts$',
          '^libs/templates/templates\\.ts$',
          '^(node:)?crypto$',
          '(^|/)node_modules/zod(/|$)',
        ],
      },
    },
    {
      name: 'channels-apart',
      comment: 'A channel is one folder: what two channels share stands above both.',
      severity: 'error',
      from: { path: '^libs/channels/([^/]+)/' },
      to: { path: '^libs/channels/[^/]+/', pathNot: '^libs/channels/$1/' },
    },
    {
      name: 'services-apart',
      comment:
        'Services meet through libs/contracts and the bus, never by import; only the host sees them, and they do not see it.',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: ['^services/host/', '^services/[^/]+/main\\.ts$'] },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'service-main-starts-only',
      comment: "A service's own main.ts starts the product with its role: it imports itself and services/host/main.ts.",
      severity: 'error',
      from: { path: '^services/([^/]+)/main\\.ts$', pathNot: '^services/host/' },
      to: { path: '^services/', pathNot: ['^services/$1/', '^services/host/main\\.ts$'] },
    },
    {
      name: 'libs-below-services',
      comment: 'A library that knows a service is part of that service.',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^services/' },
    },
    {
      name: 'console-apart',
      comment:
        'The console is a client of the public API and nothing else: it runs in browsers and shares no code with what serves it.',
      severity: 'error',
      from: { path: '^services/console/' },
      to: { path: '^(services|libs)/', pathNot: '^services/console/' },
    },
    {
      name: 'adapters-by-composition',
      comment:
        'Code sees ports; composition.ts alone picks their adapters, with page-parts.ts for what loads pages, and views-thread.ts those of its thread. Specs may use an adapter as the test double.',
      severity: 'error',
      from: {
        path: '^(services|libs|bin|scripts)/',
        pathNot: ['^services/host/(composition|page-parts|views-thread)\\.ts$', tests],
      },
      to: {
        path: [
          '^libs/event-store/(sqlite|sqlite-history|eventstoredb)\\.ts$',
          '^libs/bus/(sqlite|kafka|sealed-bus)\\.ts$',
          '^libs/leases/(sole|shared)\\.ts$',
          '^libs/vault/event-vault\\.ts$',
          '^libs/read-store/(sqlite|mongo)\\.ts$',
          '^libs/sandbox/quickjs\\.ts$',
          '^libs/outbound/undici\\.ts$',
          '^libs/page-loader/(http|browser)\\.ts$',
          '^libs/snapshots/(sqlite|file|mongo)\\.ts$',
        ],
      },
    },
    ...libraryRules,
    ...vendorRules,
    {
      name: 'vendor-sqlite',
      comment: 'node:sqlite is opened in one way (journal mode, lock, checks); only the adapters hold a database.',
      severity: 'error',
      from: { path: '^(services|libs)/', pathNot: ['^libs/sqlite/', '^libs/[^/]+/sqlite[^/]*\\.ts$', tests] },
      to: { path: '^(node:)?sqlite$' },
    },
    {
      name: 'one-door',
      comment:
        'What goes out goes by libs/outbound, which checks where it leads. Beside it: the engines of an installation, what listens, and the demo.',
      severity: 'error',
      from: {
        path: '^(services|libs)/',
        pathNot: [
          '^libs/outbound/',
          '^libs/bus/kafka-client\\.ts$',
          '^libs/sandbox/evaluator/(evaluator|evaluator-host|connected-evaluator)\\.ts$', // its pipe to the process that started it
          '^libs/(contracts/account|http/client-address|runtime/engine-address)\\.ts$', // `isIP`
          '^libs/page-loader/attempt\\.ts$', // the names of statuses
          '^libs/page-loader/browser/browser-host\\.ts$', // listens
          '^services/host/cli/demo',
          tests,
        ],
      },
      to: { path: '^(node:)?(net|tls|http|https|http2|dgram|dns)(/promises)?$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-test-code-in-product',
      comment: 'A contract suite is imported by specs, and test/ serves tests.',
      severity: 'error',
      from: { path: '^(services|libs|bin|scripts)/', pathNot: tests },
      to: { path: ['\\.contract\\.ts$', '^libs/eventing/given\\.ts$', '^test/'] },
    },
    {
      name: 'nobody-imports-specs',
      comment: 'What two specs share belongs in a contract suite or in test/.',
      severity: 'error',
      from: {},
      to: { path: '\\.spec\\.ts$' },
    },
    {
      name: 'no-dev-dependency-in-product',
      comment: 'An installation without devDependencies must run. The console is bundled when it is built.',
      severity: 'error',
      from: { path: '^(services|libs|bin)/', pathNot: ['^services/console/', tests] },
      to: { dependencyTypes: ['npm-dev'] },
    },
    {
      name: 'declared-packages-only',
      comment: 'A package that package.json does not name is there by chance.',
      severity: 'error',
      from: { path: '^(services|libs|bin|scripts)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'undetermined'] },
    },
    {
      name: 'resolvable',
      comment:
        'An import that leads nowhere fails at run time only. What the build makes is not there before it, and the bundler of the console refuses such an import itself.',
      severity: 'error',
      from: { pathNot: '^services/console/' },
      to: { couldNotResolve: true, pathNot: '(^|/)dist/' },
    },
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or miss a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'A file that imports nothing and that nobody imports is dead, or an entry that belongs in this list.',
      severity: 'error',
      from: {
        orphan: true,
        path: '^(services|libs)/',
        pathNot: ['^services/gateway/pages/', '^services/console/', '(^|/)main\\.ts$', '\\.d\\.ts$', tests],
      },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['^dist/', '^test/architecture/planted/', '^test/bench/node_modules/', '^test/clients/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    detectProcessBuiltinModuleCalls: true,
    enhancedResolveOptions: {
      conditionNames: ['import', 'node', 'default', 'types'],
      exportsFields: ['exports'],
      extensions: ['.ts', '.mjs', '.cjs', '.js', '.json', '.d.ts'],
    },
  },
};
