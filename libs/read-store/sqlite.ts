/** Read store in one SQLite file: a table per view, the indexed fields in columns of their own. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '#runtime/errors';
import { foldLogBack, inTransaction, openDatabase, type Database, type Statement } from '#sqlite/database';
import { plainValues } from './indexed-fields.js';
import {
  viewOutOfStep,
  type AnyView,
  type DocumentWrite,
  type PageQuery,
  type ReadStore,
  type ViewAdmin,
  type ViewDefinition,
  type ViewStore,
} from './read-store.js';
import { createWorkerBackfiller, type BackfillSource, type CallHandler } from './sqlite-backfill.js';
import { documentOf, storedDocument } from './stored-document.js';
import { createTableTrash, type TableTrash } from './sqlite-table-trash.js';
import { checkpointSchema, createCheckpoints, type Checkpoints } from './sqlite-checkpoints.js';
import {
  searchedText,
  toForgetStatement,
  toKeptTotal,
  toManyStatement,
  toMoreStatement,
  toPageStatements,
  toRowsStatement,
  type PageStatements,
  type TextFilter,
} from './sqlite-query.js';
import { createViewTables, notWritten, type ViewTables } from './sqlite-tables.js';
import { comparedBounds, shortestWay, type Way } from './sqlite-way.js';

interface Parts {
  readonly database: Database;
  readonly checkpoints: Checkpoints;
  readonly trash: TableTrash;
  readonly tables: ViewTables;
}

const maxPreparedPages = 500;
/** Of a text that a greater part of all documents has, the first page is found sooner by going through the list. */
const mostLookedUp = { part: 1 / 8, atLeast: 10_000 };
/** Rows whose texts are compared before everything else has a turn. */
const rowsATurn = 20_000;
/** Documents that are removed in one transaction. */
const documentsForgottenATurn = 500;
/** Characters of documents that are parsed before everything else has a turn. */
const charactersATurn = 1_000_000;
/** About what a byte of a packed document stands for. */
const packedCharacters = 4;

async function parseDocuments<D>(rows: readonly Record<string, unknown>[]): Promise<D[]> {
  const documents: D[] = [];
  let characters = 0;
  for (const row of rows) {
    if (characters > charactersATurn) {
      characters = 0;
      await nextTurn();
    }
    const { document } = row;
    characters += typeof document === 'string' ? document.length : (document as Uint8Array).length * packedCharacters;
    documents.push(documentOf(row));
  }
  return documents;
}

/** In one transaction; a fault of the database rejects with `read_store_unavailable`. */
function write(database: Database, work: () => void): void {
  try {
    inTransaction(database, work);
  } catch (error) {
    throw error instanceof AppError ? error : notWritten(error);
  }
}

function loadDocuments<D extends object>(
  tables: ViewTables,
  view: ViewDefinition<D>,
  ids: readonly string[],
): Map<string, DocumentWrite<D>> {
  const { load } = tables.open(view);
  const found = new Map<string, DocumentWrite<D>>();
  for (const id of ids) {
    const row = load.get(id);
    if (row === undefined) continue;
    found.set(id, { id, revision: row['revision'] as number, document: documentOf(row) });
  }
  return found;
}

/** Stores and loads the documents that the backfill worker computes. */
function createCallHandler({ database, checkpoints, tables }: Parts): CallHandler {
  return ({ built }, call) => {
    try {
      if (call.what === 'load') return [...loadDocuments(tables, built, call.ids).values()];
      const { save, remove } = tables.open(built);
      inTransaction(database, () => {
        for (const row of call.rows) {
          const [id, revision, document, ...values] = row;
          if (document === null) remove.run(id, revision);
          else save.run(id, revision, document, ...values);
        }
        if (call.checkpoint !== null) checkpoints.advance(built, call.checkpoint, call.event ?? undefined);
      });
      return [];
    } catch {
      return null;
    }
  };
}

/** Behind its middle a list is walked from its end. */
function shorterWay({ limit, offset, behind }: PageQuery, total: number | null) {
  const left = (total ?? 0) - offset;
  if (behind !== undefined || left <= 0 || offset <= left) return { limit, offset, backwards: false };
  const shown = Math.min(limit, left);
  return { limit: shown, offset: left - shown, backwards: true };
}

function createReads({ database, checkpoints, tables }: Parts): Omit<ReadStore, 'save' | 'close'> {
  const pageStatements = new Map<string, Statement>();
  const prepared = (sql: string): Statement => {
    const known = pageStatements.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    if (pageStatements.size >= maxPreparedPages) pageStatements.clear();
    pageStatements.set(sql, statement);
    return statement;
  };

  const rowsOf = (view: AnyView): number => Number(prepared(toRowsStatement(view)).get()?.['rows'] ?? 0);

  const totalOf = async (
    view: AnyView,
    { count, countBetween }: PageStatements,
    compared: readonly string[],
  ): Promise<number> => {
    const rows = countBetween === null ? 0 : rowsOf(view);
    if (countBetween === null || rows <= rowsATurn) {
      const { sql, values } = count(compared);
      return Number(prepared(sql).get(...values)?.['total']);
    }
    let total = 0;
    for (let after = 0; after < rows; after += rowsATurn) {
      const { sql, values } = countBetween(after, after + rowsATurn);
      total += Number(prepared(sql).get(...values)?.['total']);
      await nextTurn();
    }
    return total;
  };

  const isRare = (view: AnyView, text: TextFilter): boolean => {
    const most = Math.max(mostLookedUp.atLeast, Math.round(rowsOf(view) * mostLookedUp.part));
    const { sql, values } = toManyStatement(view, text, most);
    return prepared(sql).get(...values)?.['many'] === 0;
  };

  const keptTotal = (view: AnyView, where: PageQuery['where']): number => {
    const kept = toKeptTotal(view, where);
    return kept === null ? 0 : Number(prepared(kept.sql).get(...kept.values)?.['total']);
  };

  const areMore = (view: AnyView, where: PageQuery['where'], than: number): boolean => {
    const { sql, values } = toMoreStatement(view, where, than);
    return prepared(sql).get(...values)?.['more'] === 1;
  };

  const wayTo = (
    view: AnyView,
    query: PageQuery,
    { limit, offset }: Pick<PageQuery, 'limit' | 'offset'>,
    total: number | null,
  ): Way =>
    shortestWay(view, query, { wanted: offset + limit, total: query.behind === undefined ? total : null }, (where) =>
      keptTotal(view, where),
    );

  return {
    async get<D extends object>(view: AnyView, id: string) {
      const row = tables.open(view).get.get(id);
      return row === undefined ? null : documentOf<D>(row);
    },

    async load(view, ids) {
      return loadDocuments(tables, view, ids);
    },

    async page<D extends object>(view: AnyView, query: PageQuery) {
      tables.open(view);
      const text = searchedText(view, query);
      const statements = toPageStatements(view, query, text !== null && isRare(view, text) ? text : null);
      const bounds = comparedBounds(
        view,
        query,
        (where) => keptTotal(view, where),
        (where, than) => areMore(view, where, than),
      );
      const total = query.count ? await totalOf(view, statements, bounds) : null;
      if (total === 0) return { documents: [], total };
      const part = shorterWay(query, total);
      const way = wayTo(view, query, part, total);
      const { sql, values } = statements.rows(
        part,
        way.isSorted ? { ...way, compared: [...way.compared, ...bounds] } : way,
      );
      const found = prepared(sql).all(...values);
      return { documents: await parseDocuments<D>(found), total };
    },

    async checkpoint(view) {
      // Opened first: a view that is created anew has seen nothing.
      tables.open(view);
      return checkpoints.position(view);
    },
  };
}

function createAdmin({ database, checkpoints, trash, tables }: Parts): Omit<ViewAdmin, 'backfiller'> {
  return {
    async seen(view) {
      tables.open(view);
      return checkpoints.seen(view);
    },

    async index(view, built) {
      tables.open(built);
      try {
        // Each takes a while where documents are many: other work runs in between.
        while (tables.makeIndex(view, built)) await new Promise((resolve) => setImmediate(resolve));
      } catch (error) {
        throw notWritten(error);
      }
    },

    async forget(view, { where, revision }) {
      tables.open(view);
      const { sql, values } = toForgetStatement(view, where, revision, documentsForgottenATurn);
      const remove = database.prepare(sql);
      for (;;) {
        let removed = 0;
        write(database, () => (removed = Number(remove.run(...values).changes)));
        if (removed < documentsForgottenATurn) return;
        await nextTurn();
      }
    },

    async scrub() {
      trash.empty();
      foldLogBack(database);
    },

    async reset(view) {
      write(database, () => tables.drop(view));
      trash.empty();
    },

    async replace(view, built) {
      const refuseOlder = (): void => {
        const [seen, seenByBuilt] = [checkpoints.position(view), checkpoints.position(built)];
        if (seenByBuilt === null || (seen ?? -1) > seenByBuilt) throw viewOutOfStep(view);
      };
      refuseOlder();
      tables.open(built);
      try {
        write(database, () => {
          refuseOlder();
          while (tables.makeIndex(view, built)) continue;
          tables.move(view, built);
        });
      } finally {
        tables.forget(built);
      }
      trash.empty();
    },
  };
}

/**
 * `file`: a path or `:memory:`. `source`: what a worker thread backfills views from; null: there is none. Throws
 * `DatabaseInUse` where another process writes the file for longer than a connection waits.
 */
export function createSqliteReadStore(file: string, source: BackfillSource | null = null): ViewStore {
  const database = openDatabase({
    file,
    // Views are derived: after a power cut their checkpoint is as old as they are, and the events are read again.
    durability: 'normal',
    // The command line asks a running server for a rebuild through this file. A second server is kept out by the events file.
    held: 'shared',
    schema: checkpointSchema,
  });
  // What is removed is overwritten: a purged task leaves nothing in pages that are free.
  database.exec('PRAGMA secure_delete = ON');
  const checkpoints = createCheckpoints(database);
  const trash = createTableTrash(database);
  // Tables that an earlier process discarded.
  trash.empty();
  const tables = createViewTables(database, checkpoints, trash);
  const parts = { database, checkpoints, trash, tables };
  const backfiller = source === null ? null : createWorkerBackfiller(source, createCallHandler(parts));

  return {
    ...createReads(parts),
    ...createAdmin(parts),
    backfiller,

    async save(view, writes, checkpoint, after, event) {
      const { put, remove } = tables.open(view);
      write(database, () => {
        if (after !== undefined && checkpoints.position(view) !== after) throw viewOutOfStep(view);
        for (const { id, revision, document } of writes) {
          if (document === null) remove.run(id, revision);
          // Lists as JSON text: `json_each` looks inside.
          else put(id, revision, storedDocument(view, document), plainValues(view, document));
        }
        if (checkpoint !== null) checkpoints.advance(view, checkpoint, event);
      });
    },

    async close() {
      await backfiller?.stop();
      await trash.stop();
      if (database.isOpen) database.close();
    },
  };
}
