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

/**
 * `auto.create.topics.enable=false` and one copy of everything; groups form at once, with no wait for more members. A
 * broker that was killed is let in again once its session has run out: 2 s, where 9 are the default.
 */
const settings = (port: number, controllerPort: number, logs: string): string => `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
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

/** ApiVersions, version 0, from nobody in particular: a broker answers it once it serves requests. */
const apiVersions = Uint8Array.of(0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff);

export const kafka = {
  name: 'kafka',
  variable: 'BUS_URL',
  url: (port: number): string => `kafka://127.0.0.1:${port}`,
  isReady: (port: number): Promise<boolean> => answers(port, apiVersions),

  async prepare(port: number, dataFolder: string): Promise<Program> {
    await checkJava();
    const classPath = join(await library(), '*');
    const logs = join(dataFolder, 'logs');
    const settingsFile = join(dataFolder, 'server.properties');
    await mkdir(dataFolder, { recursive: true });
    await writeFile(settingsFile, settings(port, await freePort(), logs));
    if (!existsSync(join(logs, 'meta.properties'))) {
      const tool = ['-cp', classPath, 'kafka.tools.StorageTool', 'format', '-t', newClusterId(), '-c', settingsFile];
      await runTool('java', ['-XX:TieredStopAtLevel=1', ...tool], javaAdvice);
    }
    const limits = ['-Xms128m', '-Xmx512m', '-XX:+UseSerialGC'];
    const logging = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-Dorg.slf4j.simpleLogger.showDateTime=true'];
    return { program: 'java', args: [...limits, ...logging, '-cp', classPath, 'kafka.Kafka', settingsFile] };
  },
};

/** A random UUID in the base-64 of URLs, the form in which Kafka names clusters. */
function newClusterId(): string {
  return Buffer.from(crypto.randomUUID().replaceAll('-', ''), 'hex').toString('base64url');
}
