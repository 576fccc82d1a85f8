/** An Apache Kafka broker that is its own controller (KRaft), one process. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cached, MissingPart, runTool } from '../downloads.ts';
import { answers, freePort, type Program } from '../process.ts';

const pom = fileURLToPath(new URL('pom.xml', import.meta.url));
const oldestJava = 17;
const javaAdvice = `Kafka needs a Java runtime ${oldestJava} or newer (Debian: apt-get install openjdk-17-jre-headless).`;
const mavenAdvice = 'Maven brings the broker (Debian: apt-get install maven); it must reach Maven Central or a mirror.';

export interface KafkaUser {
  readonly username: string;
  readonly password: string;
}

/** A second way in for clients, advertised at another port: what stands there may be a proxy that breaks. */
export interface Door {
  readonly port: number;
  readonly advertisedPort: number;
}

interface Ports {
  readonly clients: number;
  readonly brokers: number;
  readonly controller: number;
  readonly door: Door | null;
}

/** The second compiler takes more in the few minutes of a suite than it gives. */
const javaOptions = [
  '-Xms128m',
  '-Xmx512m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
];
const keysPassword = 'keys-of-a-test';

async function checkJava(): Promise<void> {
  const told = await runTool('java', ['-version'], javaAdvice);
  const major = Number(/version "(\d+)/.exec(told)?.[1] ?? 0);
  if (major < oldestJava) throw new MissingPart(`\`java\` is too old: ${told.split('\n')[0]}. ${javaAdvice}`);
}

async function library(): Promise<string> {
  const version = /<kafka\.version>(.+)<\/kafka\.version>/.exec(await readFile(pom, 'utf8'))?.[1] ?? 'unknown';
  return cached(`kafka-${version}`, async (folder) => {
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`, '-DincludeScope=runtime'];
    await runTool('mvn', ['-q', '-B', '-f', pom, ...goal], mavenAdvice);
  });
}

const doorAt = (port: number | undefined): string => (port === undefined ? '' : `,DOOR://127.0.0.1:${port}`);

/**
 * `auto.create.topics.enable=false` and one copy of everything; groups form at once, with no wait for more members. A
 * broker that was killed is let in again once its session has run out: 2 s, where 9 are the default.
 */
const settings = (ports: Ports, logs: string): string => `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${ports.controller}
listeners=CLIENTS://127.0.0.1:${ports.clients},BROKERS://127.0.0.1:${ports.brokers},CONTROLLER://127.0.0.1:${ports.controller}${doorAt(ports.door?.port)}
advertised.listeners=CLIENTS://127.0.0.1:${ports.clients},BROKERS://127.0.0.1:${ports.brokers}${doorAt(ports.door?.advertisedPort)}
controller.listener.names=CONTROLLER
inter.broker.listener.name=BROKERS
log.dirs=${logs}
num.partitions=1
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
min.insync.replicas=1
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
log.retention.hours=168
`;

const plainProtocols =
  'listener.security.protocol.map=CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT,CONTROLLER:PLAINTEXT,DOOR:PLAINTEXT\n';

/** Clients come by TLS, with a user and password, by any of the mechanisms. */
const securedProtocols = ({ username, password }: KafkaUser, keys: string): string => `
listener.security.protocol.map=CLIENTS:SASL_SSL,BROKERS:PLAINTEXT,CONTROLLER:PLAINTEXT
listener.name.clients.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.clients.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_${username}="${password}";
listener.name.clients.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.clients.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
ssl.keystore.type=PKCS12
ssl.keystore.location=${keys}
ssl.keystore.password=${keysPassword}
ssl.key.password=${keysPassword}
`;

/** Where the certificate is that clients of a secured broker must trust. */
export const certificateOf = (dataFolder: string): string => join(dataFolder, 'certificate.pem');

async function makeKeys(dataFolder: string): Promise<string> {
  const keys = join(dataFolder, 'keys.p12');
  if (existsSync(keys)) return keys;
  const store = ['-keystore', keys, '-storetype', 'PKCS12', '-storepass', keysPassword, '-alias', 'broker'];
  const subject = ['-keyalg', 'RSA', '-dname', 'CN=localhost', '-ext', 'san=dns:localhost,ip:127.0.0.1'];
  await runTool('keytool', ['-genkeypair', ...store, ...subject, '-validity', '30'], javaAdvice);
  await runTool('keytool', ['-exportcert', '-rfc', ...store, '-file', certificateOf(dataFolder)], javaAdvice);
  return keys;
}

/** ApiVersions, version 0, from nobody in particular: a broker answers it once it serves requests. */
const apiVersions = Uint8Array.of(0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff);

/** `user`: null for a broker that lets everybody in. */
export const kafkaServer = (user: KafkaUser | null, door: Door | null = null) => ({
  name: 'kafka',
  variable: 'BUS_URL',
  url: (port: number): string =>
    user === null
      ? `kafka://127.0.0.1:${port}`
      : `kafka://${user.username}:${user.password}@127.0.0.1:${port}?tls=true&mechanism=scram-sha-512`,
  isReady: (port: number): Promise<boolean> => answers(port, user === null ? apiVersions : null),

  async prepare(port: number, dataFolder: string): Promise<Program> {
    await checkJava();
    const classPath = join(await library(), '*');
    const logs = join(dataFolder, 'logs');
    const settingsFile = join(dataFolder, 'server.properties');
    await mkdir(dataFolder, { recursive: true });
    const ports = { clients: port, brokers: await freePort(), controller: await freePort(), door };
    const protocols = user === null ? plainProtocols : securedProtocols(user, await makeKeys(dataFolder));
    await writeFile(settingsFile, settings(ports, logs) + protocols);
    if (!existsSync(join(logs, 'meta.properties'))) {
      const tool = ['-cp', classPath, 'kafka.tools.StorageTool', 'format', '-t', newClusterId(), '-c', settingsFile];
      const secret = user === null ? '' : `=[name=${user.username},password=${user.password}]`;
      const mechanisms = user === null ? [] : ['SCRAM-SHA-256', 'SCRAM-SHA-512'];
      const users = mechanisms.flatMap((mechanism) => ['--add-scram', `${mechanism}${secret}`]);
      await runTool('java', ['-XX:TieredStopAtLevel=1', ...tool, ...users], javaAdvice);
    }
    return { program: 'java', args: [...javaOptions, '-cp', classPath, 'kafka.Kafka', settingsFile] };
  },
});

/** Another broker of the cluster of a first one, which decides for both. Topics may be given to it alone. */
export const secondBroker = (firstDataFolder: string) => ({
  ...kafkaServer(null),

  async prepare(port: number, dataFolder: string): Promise<Program> {
    const first = await readFile(join(firstDataFolder, 'server.properties'), 'utf8');
    const meta = await readFile(join(firstDataFolder, 'logs', 'meta.properties'), 'utf8');
    const cluster = /^cluster\.id=(.+)$/m.exec(meta)?.[1] ?? '';
    const classPath = join(await library(), '*');
    const [settingsFile, logs] = [join(dataFolder, 'server.properties'), join(dataFolder, 'logs')];
    const addresses = `CLIENTS://127.0.0.1:${port},BROKERS://127.0.0.1:${await freePort()}`;
    const own = first
      .replace(/^process\.roles=.*$/m, 'process.roles=broker')
      .replace(/^node\.id=.*$/m, 'node.id=2')
      .replace(/^listeners=.*$/m, `listeners=${addresses}`)
      .replace(/^advertised\.listeners=.*$/m, `advertised.listeners=${addresses}`)
      .replace(/^log\.dirs=.*$/m, `log.dirs=${logs}`);
    await mkdir(dataFolder, { recursive: true });
    await writeFile(settingsFile, own);
    if (!existsSync(join(logs, 'meta.properties'))) {
      const tool = ['-cp', classPath, 'kafka.tools.StorageTool', 'format', '-t', cluster, '-c', settingsFile];
      await runTool('java', ['-XX:TieredStopAtLevel=1', ...tool], javaAdvice);
    }
    return { program: 'java', args: [...javaOptions, '-cp', classPath, 'kafka.Kafka', settingsFile] };
  },
});

/** A random UUID in the base-64 of URLs, the form in which Kafka names clusters; one that begins with - would be read as an option. */
function newClusterId(): string {
  const id = Buffer.from(crypto.randomUUID().replaceAll('-', ''), 'hex').toString('base64url');
  return id.startsWith('-') ? newClusterId() : id;
}
