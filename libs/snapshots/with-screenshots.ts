/** Pages and the screenshots of them behind one port, each in a store of its own: of both as many are kept, for as long. */
import type { KeptPage, Snapshots } from './snapshots.js';

export function withScreenshots(pages: Snapshots, screenshots: Snapshots): Snapshots {
  return {
    save: (snapshot, body) => (snapshot.isScreenshot === true ? screenshots : pages).save(snapshot, body),
    list: (taskId, limit) => pages.list(taskId, limit),
    async read(taskId, id): Promise<KeptPage | null> {
      return (await pages.read(taskId, id)) ?? screenshots.read(taskId, id);
    },
    async forget(taskId, older) {
      await pages.forget(taskId, older);
      await screenshots.forget(taskId, older);
    },
    async sweep(nowMs) {
      return (await pages.sweep(nowMs)) + (await screenshots.sweep(nowMs));
    },
    async close() {
      await Promise.all([pages.close(), screenshots.close()]);
    },
  };
}
