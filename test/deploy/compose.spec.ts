/** The compose files, against the settings that the product reads and against what an operator may rely on. */
import { afterAll, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig, type Config } from '#runtime/config';
import { roles } from '#runtime/settings';
import { parseEngineAddress } from '#runtime/engine-address';
import { interpolated, readCompose, type ComposeFile, type Service } from './compose.js';
import { readYaml } from './yaml.js';

const repository = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const text = (path: string): Promise<string> => readFile(join(repository, path), 'utf8');
const given = { OWNER_EMAIL: 'you@example.com' };

const whole = readCompose(await text('docker-compose.yml'));
const mail = readCompose(await text('deploy/docker/compose.mail.yml'));
const embedded = readCompose(await text('deploy/docker/compose.embedded.yml'));
const cluster = readCompose(await text('docker-compose.cluster.yml'));
const secretsScript = await text('deploy/docker/make-secrets.sh');
const settings = new Set(
  [...(await text('libs/runtime/settings.ts')).matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name ?? ''),
);

const isOurs = ({ image }: Service): boolean => image?.startsWith('meerkat:') === true;
const isBrowsers = ({ command }: Service): boolean => command?.includes('browsers') === true;
const isEvaluators = ({ command }: Service): boolean => command?.includes('evaluators') === true;
const ours = ({ services }: ComposeFile): readonly (readonly [string, Service])[] =>
  Object.entries(services).filter(([, service]) => isOurs(service) && !isEvaluators(service));
const evaluators = Object.entries(whole.services).filter(([, service]) => isEvaluators(service));
/** The number at the end of a container's name. */
const numberOf = (name: string): string => /[0-9]+$/.exec(name)?.[0] ?? '';
const browsers = Object.entries(whole.services).filter(([, service]) => isBrowsers(service));
const engines = Object.entries(whole.services).filter(([, service]) => !isOurs(service) && !isBrowsers(service));
const together: readonly (readonly [string, Service])[] = [
  ...Object.entries(whole.services),
  ...Object.entries(embedded.services),
];

const seconds = (duration = '0s'): number =>
  [...duration.matchAll(/([0-9]+)(ms|s|m|h)/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * ({ ms: 0.001, s: 1, m: 60, h: 3600 }[unit ?? 's'] ?? 1),
    0,
  );

const folder = await mkdtemp(join(tmpdir(), 'meerkat-compose-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const secretValues: Readonly<Record<string, string>> = {
  secret_key: Buffer.alloc(32, 7).toString('base64'),
  owner_password: 'a long pass phrase',
  smtp_url: 'smtp://user:password@mail.example.com:587',
};
for (const [name, value] of Object.entries(secretValues)) await writeFile(join(folder, name), `${value}\n`);

/** What the product makes of a service's environment: secrets are read from files, as in a container. */
function configOf({ environment }: Pick<Service, 'environment'>): Config {
  const entries = Object.entries(environment).map(([name, value]) => [
    name,
    interpolated(value, given).replace(/^\/run\/secrets\//, `${folder}/`),
  ]);
  return readConfig(Object.fromEntries(entries) as Record<string, string>, folder);
}

describe('the YAML reader of the tests', () => {
  it('reads mappings, sequences, scalars, anchors and merges', () => {
    const source = `
a: &a { one: 1, two: 'q', three: [x, "y: z", true, null] }
b: &b
  <<: *a
  two: more # than before
  four:
    - k: v
      l: \${A:-}
    - '5'
c: *b
`;
    const a = { one: 1, two: 'q', three: ['x', 'y: z', true, null] };
    const b = { ...a, two: 'more', four: [{ k: 'v', l: '${A:-}' }, '5'] };
    expect(readYaml(source)).toEqual({ a, b, c: b });
  });

  it.each([
    ['a: 1\na: 2', 'stands twice'],
    ['a: *b', 'nothing is called &b'],
    ['a: [', 'Flow sequence'],
    ['a: !tag 1', 'tags are not read'],
    ['a: 1\n---\nb: 2', 'one document'],
    ['<<: text', 'must be one mapping'],
  ])('rejects %j', (source, reason) => {
    expect(() => readYaml(source)).toThrow(reason);
  });
});

describe('a compose file', () => {
  it('is rejected with a key or a value that Compose does not accept', () => {
    const file = (service: string): string => `services:\n  a:\n    image: a:1.0.0\n    ${service}\n`;
    expect(readCompose(file('user: "1"')).services['a']?.user).toBe('1');
    for (const key of ['cap_dorp: [ALL]', 'read_only: "yes"', 'environment: [A]', 'stop_grace_period: 30']) {
      expect(() => readCompose(file(key))).toThrow(key.split(':')[0]);
    }
  });

  it('uses only variables that are settings of the product, or choose and build its image', async () => {
    for (const path of ['docker-compose.yml', 'deploy/docker/compose.mail.yml', 'deploy/docker/compose.embedded.yml']) {
      const used = [...(await text(path)).matchAll(/\$\{([A-Z][A-Z0-9_]*)/g)].map(([, name]) => name ?? '');
      expect(used.filter((name) => !settings.has(name) && !['MEERKAT_VERSION', 'PARSER'].includes(name))).toEqual([]);
    }
  });
});

describe('a container of the compose files', () => {
  it.each(together)('%s has an image of one exact version', async (_name, service) => {
    const { version } = JSON.parse(await text('package.json')) as { readonly version: string };
    expect(service.image).toMatch(/^[a-z0-9./-]+:\S*[0-9]+\.[0-9]+\.[0-9]+\S*$/);
    if (isOurs(service)) expect(service.image).toBe(`meerkat:\${MEERKAT_VERSION:-${version}}`);
  });

  it.each(together)('%s has only the privileges that it needs', (_name, service) => {
    expect(service.user).toMatch(/^[1-9][0-9]*:[1-9][0-9]*$/);
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
  });

  it.each(together)('%s has limits, a restart policy, a health check and a bounded log', (_name, service) => {
    expect(service.deploy?.resources.limits).toBeDefined();
    expect(service.restart).toBe('unless-stopped');
    expect(service.init).toBe(true);
    expect(service.healthcheck).toBeDefined();
    expect(service.logging).toEqual({ driver: 'local' });
  });

  it.each(together)('%s mounts files and volumes that exist', (_name, { volumes }) => {
    for (const mount of volumes) {
      const [source = '', target = '', mode] = mount.split(':');
      expect(target).toMatch(/^\//);
      if (!source.startsWith('.')) expect({ ...whole.volumes, ...embedded.volumes }).toHaveProperty(source);
      else expect([existsSync(join(repository, source)), mode]).toEqual([true, 'ro']);
    }
  });
});

describe('a product service of the compose files', () => {
  const all = [...ours(whole), ...ours(mail), ...ours(embedded)];

  it.each([...all, ...Object.entries(mail.services)])('%s gets no variables but settings', (_name, { environment }) => {
    const isSetting = (name: string): boolean => settings.has(name) || settings.has(name.replace(/_FILE$/, ''));
    expect(Object.keys(environment).filter((name) => !isSetting(name))).toEqual([]);
  });

  it.each(ours(whole))('%s starts with its settings', (name, service) => {
    const config = configOf(service);
    expect(config.roles).toEqual([name.replace(/-[0-9]+$/, '')]);
    expect(config.owner === null).toBe(!config.roles.includes('accounts'));
  });

  it.each(ours(whole))('%s gets the secrets that its settings name', (_name, { environment, secrets }) => {
    const named = Object.values(environment).flatMap((value) => /^\/run\/secrets\/(.+)$/.exec(value)?.[1] ?? []);
    expect(named.sort()).toEqual([...secrets].sort());
    for (const secret of secrets) {
      expect(whole.secrets[secret]).toEqual({ file: `deploy/docker/secrets/${secret}` });
      expect(secretsScript).toMatch(new RegExp(`^make ${secret} `, 'm'));
    }
  });

  it.each(ours(whole))('%s starts once each server that it depends on is healthy', (name, service) => {
    const needs = service.volumes.length > 0 ? [`evaluators-${numberOf(name)}`] : [];
    const rendering = name.startsWith('rendering-') ? [`browsers-${numberOf(name)}`] : [];
    const names = [...engines.map(([engine]) => engine), ...needs, ...rendering];
    expect(service.depends_on).toEqual(
      Object.fromEntries(names.map((needed) => [needed, { condition: 'service_healthy' }])),
    );
    const { eventStoreUrl, busUrl, readStoreUrl } = configOf(service);
    const hosts = [eventStoreUrl, busUrl, readStoreUrl].flatMap((url) => parseEngineAddress(url)?.hosts ?? []);
    expect(hosts.map((host) => host.replace(/:.*/, '')).sort()).toEqual(engines.map(([engine]) => engine).sort());
  });

  it.each(all)('%s has a readiness check, and time to drain', (_name, service) => {
    expect(service.healthcheck?.test).toEqual(['CMD', 'node', 'scripts/probe.mjs', '/readyz']);
    expect(seconds(service.stop_grace_period)).toBeGreaterThan(25);
    expect(seconds(service.healthcheck?.start_period)).toBeGreaterThan(60);
  });

  it('exists at least twice for each role', () => {
    const held = ours(whole).flatMap(([, service]) => configOf(service).roles);
    expect(roles.filter((role) => held.filter((other) => other === role).length < 2)).toEqual([]);
  });

  it('is the same in both of its containers except for the port and its evaluators', () => {
    for (const role of roles) {
      const [first, second] = [1, 2].map((n) => {
        const service = whole.services[`${role}-${n}`];
        const plain = JSON.stringify({ ...service, ports: [] }).replaceAll(`evaluators-${n}`, 'evaluators');
        return plain
          .replaceAll(role === 'rendering' ? `browsers-${n}` : 'none', 'browsers')
          .replaceAll(`"rendering-${n}"`, 'rendering');
      });
      expect(first).toEqual(second);
    }
  });
});

describe('the evaluators of the compose files', () => {
  it('have no network, no secret, no data and no other user’s right', () => {
    expect(evaluators.map(([name]) => name)).toEqual(['evaluators-1', 'evaluators-2']);
    for (const [name, service] of evaluators) {
      expect(service).toMatchObject({ network_mode: 'none', networks: [], ports: [], secrets: [] });
      expect(service.volumes).toEqual([`${name}:/run/evaluators`]);
      expect(service.user).not.toBe(whole.services['gateway-1']?.user);
      expect(Object.keys(service.environment).sort()).toEqual(['EVALUATOR_SOCKETS', 'LOG_FORMAT', 'LOG_LEVEL']);
      expect(configOf(service).evaluatorSockets).toBe('/run/evaluators');
    }
  });

  it('are used by each service that runs code, and started in no container that reaches a server', async () => {
    const roleOf = (name: string): string => name.replace(/-[0-9]+$/, '');
    for (const [name, service] of ours(whole)) {
      const runsCode = ['gateway', 'execution', 'rendering', 'delivery'].includes(roleOf(name));
      expect([name, configOf(service).evaluatorSockets]).toEqual([name, runsCode ? '/run/evaluators' : null]);
      expect(service.volumes).toEqual(runsCode ? [`evaluators-${numberOf(name)}:/run/evaluators`] : []);
    }
    expect(await text('deploy/docker/Dockerfile')).toMatch(/--owner=1001 --group=1000 --mode=0770 \/run\/evaluators/);
  });
});

describe('the browsers of the compose files', () => {
  it('have no secret, no data, no engine and no way outside but the proxy of their rendering service', () => {
    expect(browsers.map(([name]) => name)).toEqual(['browsers-1', 'browsers-2']);
    for (const [name, service] of browsers) {
      const network = `rendering-${numberOf(name)}`;
      expect(service).toMatchObject({ networks: [network], ports: [], secrets: [], volumes: [] });
      expect(whole.networks[network]).toEqual({ internal: true });
      const others = Object.entries(whole.services).filter(([, { networks }]) => networks.includes(network));
      expect(others.map(([other]) => other).sort()).toEqual([name, network]);
      expect(Object.keys(service.environment).filter((setting) => !settings.has(setting))).toEqual([]);
      expect(configOf(service)).toMatchObject({ browser: 'auto' });
    }
  });

  it('are used by the rendering service of the same number', async () => {
    for (const [name, service] of ours(whole).filter(([other]) => other.startsWith('rendering-'))) {
      expect(configOf(service).browser).toBe(`ws://browsers-${numberOf(name)}:3000`);
    }
    for (const [name, service] of ours(whole).filter(([other]) => other.startsWith('gateway-'))) {
      expect([name, configOf(service).browser]).toEqual([name, 'ws://browsers-1:3000']);
    }
    const image = await text('deploy/docker/Dockerfile');
    expect(image).toMatch(
      /^FROM product AS browsers\nUSER root\n[\s\S]*install [^\n]* chromium [\s\S]*\nUSER 1002:1002\n/m,
    );
    expect(image.trimEnd()).toMatch(/\nFROM product AS meerkat$/);
  });
});

describe('the networks of the compose files', () => {
  it('isolate the servers: only services reach them, and they reach nothing outside', () => {
    expect(whole.networks['engines']).toEqual({ internal: true });
    for (const [, { networks, ports }] of engines) expect([networks, ports]).toEqual([['engines'], []]);
    for (const [, { networks }] of ours(whole)) expect(networks).toContain('engines');
  });

  it('give egress only to services that load pages, send messages or check addresses', () => {
    const outside = ours(whole).filter(([, { networks }]) => networks.includes('outside'));
    const expected = ['gateway', 'execution', 'rendering', 'delivery'].flatMap((role) => [`${role}-1`, `${role}-2`]);
    expect(outside.map(([name]) => name).sort()).toEqual(expected.sort());
  });

  it('publish the gateways, on loopback, each at a port of its own', () => {
    const published = Object.entries(whole.services).filter(([, { ports }]) => ports.length > 0);
    expect(published.map(([name]) => name)).toEqual(['gateway-1', 'gateway-2']);
    const ports = [...published, ...Object.entries(embedded.services)].flatMap(([, service]) => service.ports);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:[0-9]+:3000$/);
    expect(new Set(published.flatMap(([, service]) => service.ports)).size).toBe(2);
  });

  it('allow missing TLS and passwords only with INSECURE_OK', () => {
    for (const [, { environment }] of ours(whole)) {
      const strict = { environment: { ...environment, INSECURE_OK: 'false' } };
      expect(() => configOf(strict)).toThrow('without TLS');
    }
    for (const [, { environment }] of ours(embedded)) expect(environment).not.toHaveProperty('INSECURE_OK');
  });
});

describe('the servers of the compose files', () => {
  it('run the version of Kafka that the tests run', async () => {
    const [, tried] =
      /<kafka\.version>([0-9.]+)<\/kafka\.version>/.exec(await text('test/servers/kafka/pom.xml')) ?? [];
    expect(whole.services['kafka']?.image).toBe(`apache/kafka:${tried}`);
  });

  it('create no topics automatically, and run MongoDB as the replica set that the services name', () => {
    expect(whole.services['kafka']?.environment['KAFKA_AUTO_CREATE_TOPICS_ENABLE']).toBe('false');
    const { command = [] } = whole.services['mongodb'] ?? {};
    const name = command[command.indexOf('--replSet') + 1];
    for (const [, service] of ours(whole)) expect(configOf(service).readStoreUrl).toContain(`replicaSet=${name}`);
  });

  it('initiate the replica set under that name, at the address that the services use', async () => {
    const script = await text('deploy/docker/mongodb-health.js');
    expect(script).toContain("rs.initiate({ _id: 'meerkat', members: [{ _id: 0, host: 'mongodb:27017' }] })");
    const test = whole.services['mongodb']?.healthcheck?.test ?? [];
    expect(whole.services['mongodb']?.volumes).toContain(`./deploy/docker/mongodb-health.js:${String(test.at(-1))}:ro`);
  });

  it('keep their data in volumes', () => {
    const mounted = engines.flatMap(([, { volumes }]) => volumes.map((mount) => mount.split(':')[0] ?? ''));
    const sockets = evaluators.map(([name]) => name);
    const kept = mounted.filter((source) => !source.startsWith('.'));
    expect([...kept, ...sockets].sort()).toEqual(Object.keys(whole.volumes).sort());
  });
});

describe('the cluster overlay of the compose files', () => {
  const nodes = ['eventstore', 'kafka', 'mongodb'].map((engine) => [engine, `${engine}-2`, `${engine}-3`] as const);
  const serviceOf = (name: string): Service => {
    const service = cluster.services[name];
    if (service === undefined) throw new Error(`the overlay has no ${name}`);
    return service;
  };

  it('adds two nodes to each server, made as the first one and published nowhere', () => {
    const expected = [...nodes.flat(), ...ours(whole).map(([name]) => name)];
    expect(Object.keys(cluster.services).sort()).toEqual(expected.sort());
    for (const [first, ...others] of nodes) {
      for (const name of others) {
        expect(serviceOf(name).extends).toEqual({ file: 'docker-compose.yml', service: first });
        expect(serviceOf(name).ports).toEqual([]);
      }
    }
  });

  it('names all nodes of each server to every service, which waits for them', () => {
    const added = nodes.flatMap(([, ...others]) => others);
    for (const [name, service] of ours(whole)) {
      const over = serviceOf(name);
      const config = configOf({ environment: { ...service.environment, ...over.environment } });
      const hosts = [config.eventStoreUrl, config.busUrl, config.readStoreUrl].map((url) =>
        parseEngineAddress(url)?.hosts.map((host) => host.replace(/:.*/, '')),
      );
      expect(hosts).toEqual(nodes);
      expect(over.depends_on).toEqual(
        Object.fromEntries(added.map((each) => [each, { condition: 'service_healthy' }])),
      );
    }
  });

  it('keeps the data of each node in a volume of its own, at the place of the first one', () => {
    for (const [first, ...others] of nodes) {
      const [mount = ''] = whole.services[first]?.volumes ?? [];
      const target = mount.slice(mount.indexOf(':'));
      const own = others.map((name) => serviceOf(name).volumes[0] ?? '');
      expect(own.every((each) => each.endsWith(target))).toBe(true);
      for (const each of own) expect(cluster.volumes).toHaveProperty(each.slice(0, each.indexOf(':')));
      expect(new Set([mount, ...own]).size).toBe(3);
    }
  });

  it('makes members that know each other, and copies that outlive one of them', async () => {
    const [events, messages, views] = nodes;
    for (const name of events ?? []) {
      const { environment } = serviceOf(name);
      const seeds = (events ?? []).filter((other) => other !== name).map((other) => `${other}:2113`);
      expect(environment).toMatchObject({
        KURRENTDB_CLUSTER_SIZE: '3',
        KURRENTDB_GOSSIP_SEED: seeds.join(','),
        KURRENTDB_NODE_HOST_ADVERTISE_AS: name,
      });
    }
    for (const [index, name] of (messages ?? []).entries()) {
      expect(serviceOf(name).environment).toMatchObject({
        KAFKA_NODE_ID: String(index + 1),
        KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://${name}:9092`,
        KAFKA_CONTROLLER_QUORUM_VOTERS: '1@kafka:9093,2@kafka-2:9093,3@kafka-3:9093',
        KAFKA_DEFAULT_REPLICATION_FACTOR: '3',
        KAFKA_MIN_INSYNC_REPLICAS: '2',
      });
    }
    const script = await text('deploy/docker/mongodb-cluster-health.js');
    expect(script).toContain(`[${(views ?? []).map((name) => `'${name}:27017'`).join(', ')}]`);
  });
});

describe('the event store of the compose files', () => {
  it('runs as the user of its image, to whom its folders in memory belong, without indexes that nobody asks', () => {
    const service = whole.services['eventstore'];
    if (service === undefined) throw new Error('the compose file has no eventstore');
    const { image, user, tmpfs, environment } = service;
    // From 26 on the image's user is 1001: up to 25.1 it was 1000.
    expect(image).toMatch(/^kurrentplatform\/kurrentdb:26\./);
    expect(user).toBe('1001:1001');
    expect(tmpfs.filter((mount) => mount.includes('uid='))).toEqual([expect.stringContaining('uid=1001,gid=1001')]);
    expect(environment['KURRENTDB__SECONDARY_INDEXING__ENABLED']).toBe('false');
  });
});

describe('the mail server of the compose files', () => {
  it('is given to existing services, as a secret', () => {
    for (const [name, { environment, secrets }] of Object.entries(mail.services)) {
      const base = whole.services[name];
      expect(base).toBeDefined();
      expect(secrets).toEqual(Object.keys(mail.secrets));
      const config = configOf({ environment: { ...base?.environment, ...environment } });
      expect(config.smtpUrl).toBe(secretValues['smtp_url']);
    }
  });
});

describe('the one-process compose file', () => {
  it('starts all services with its settings, and keeps its data in the volume', async () => {
    const [[, service] = [], ...others] = ours(embedded);
    expect(others).toEqual([]);
    const config = configOf(service ?? { environment: {} });
    expect(config.roles).toEqual(roles);
    expect([config.eventStoreUrl, config.busUrl, config.readStoreUrl]).toEqual(['sqlite', 'sqlite', 'sqlite']);
    const [, dataFolder] = /DATA_DIR=(\S+)/.exec(await text('deploy/docker/Dockerfile')) ?? [];
    expect(service?.volumes).toEqual([`data:${dataFolder}`]);
  });
});
