/**
 * RevenantDB: an embedded, transactional storage engine that is back at once, whenever it is
 * killed.
 *
 * <p>Open a {@link org.revenantdb.engine.Database}, get a {@link org.revenantdb.engine.Table}, work
 * in {@link org.revenantdb.engine.Database#run transactions}:
 *
 * {@snippet :
 * try (Database db = Database.open(Path.of("shop"))) {
 *   Table orders = db.getOrCreateTable("orders");
 *   db.run(tx -> tx.put(orders, key, value));
 * }
 * }
 *
 * <p>This package has the API. Reading order of the source: {@code Database}; {@code lifecycle}
 * ({@code DatabaseFiles} creates, {@code OpenDatabase} opens and closes); {@code session} ({@code
 * Engine}, {@code TransactionCore}, {@code CommitPath}, {@code RollbackPath}); {@code catalog};
 * {@code check}; then the packages {@code page}, {@code buffer}, {@code change}, {@code space},
 * {@code btree}, {@code overflow}, {@code txn}, {@code version}. {@code access} is the way of the
 * engine to what is package-private here.
 */
package org.revenantdb.engine;
