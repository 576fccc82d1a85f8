/** A server that speaks EventStoreDB's protocol, as far as an event-sourced application needs it, on one SQLite file: one member, or several as a cluster. */
import { createAccess, type User } from './access.ts';
import { createCluster, soleRole } from './cluster.ts';
import { createControl } from './control.ts';
import { createFaults, type Faults } from './faults.ts';
import { openLog } from './log.ts';
import { createMember, listen, type Counts, type Tls } from './member.ts';

export interface EventStoreDbOptions {
  /** Of the first member; 0: any. The others get any. */
  readonly port: number;
  readonly data: string;
  /** Port of the faults; null: none. */
  readonly control?: number | null;
  /** How many members; 1 is a server by itself. */
  readonly members?: number;
  /** Who may come; everybody where there are none. */
  readonly users?: readonly User[];
  /** null: in clear. */
  readonly tls?: ServedTls | null;
}

export interface ServedTls extends Tls {
  /** What clients are to trust. */
  readonly certificateFile: string;
}

export interface RunningEventStoreDb {
  readonly port: number;
  readonly url: string;
  readonly controlUrl: string | null;
  readonly faults: Faults;
  /** Closes every connection at once, as when a cable is pulled; new ones are taken. */
  cut(): void;
  close(): Promise<void>;
}

export async function startEventStoreDb({
  port,
  data,
  control = null,
  members: size = 1,
  users = [],
  tls = null,
}: EventStoreDbOptions): Promise<RunningEventStoreDb> {
  const log = openLog(data);
  const faults = createFaults();
  const access = createAccess(log, users);
  const counts: Counts = { reads: 0 };
  let solePort = port;
  const cluster = size > 1 ? createCluster(log, size) : null;
  const members = Array.from({ length: size }, (_, index) =>
    createMember({
      log,
      faults,
      access,
      counts,
      tls,
      role: cluster === null ? soleRole(log, () => solePort) : cluster.role(index),
    }),
  );
  const ports: number[] = [];
  for (const [index, member] of members.entries()) {
    const got = await member.listen(index === 0 ? port : 0, size > 1);
    ports.push(got);
    cluster?.listens(index, got);
  }
  solePort = ports[0] ?? port;
  const cut = (): void => {
    for (const member of members) member.cut();
  };
  const controlServer = control === null ? null : createControl({ faults, log, counts, cut, cluster, members, ports });
  const controlPort = controlServer === null ? null : await listen(controlServer, control ?? 0);
  const hosts = ports.map((each) => `127.0.0.1:${each}`).join(',');

  return {
    port: solePort,
    url: `esdb://${hosts}?${tls === null ? 'tls=false' : `tls=true&tlsCAFile=${encodeURIComponent(tls.certificateFile)}`}`,
    controlUrl: controlPort === null ? null : `http://127.0.0.1:${controlPort}`,
    faults,
    cut,
    async close() {
      cluster?.stop();
      const closed = new Promise<void>((resolve) =>
        controlServer === null ? resolve() : controlServer.close(() => resolve()),
      );
      controlServer?.closeAllConnections();
      await Promise.all([closed, ...members.map((member) => member.close())]);
      log.close();
    },
  };
}
