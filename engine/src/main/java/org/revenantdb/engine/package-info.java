/**
 * RevenantDB: an embedded, transactional storage engine that is back at once, whenever it is
 * killed.
 *
 * <p>Open a {@link org.revenantdb.engine.Database}, get a {@link org.revenantdb.engine.Table}, work
 * in {@link org.revenantdb.engine.Database#run transactions}:
 *
 * {@snippet :
 * try (Database db = Database.open(Path.of("shop"))) {
 *   Table orders = db.table("orders");
 *   db.run(tx -> tx.put(orders, key, value));
 * }
 * }
 *
 * <p>Reading order of the source: {@code Database}, {@code DatabaseFiles} (creating), {@code
 * OpenDatabase} (opening, closing), {@code Engine}, {@code TransactionCore}, {@code Catalog},
 * {@code TableDrops}, {@code Sequence}, {@code LiveCheck} and {@code Checker}; then the packages
 * {@code page}, {@code buffer}, {@code change}, {@code space}, {@code btree}, {@code overflow},
 * {@code txn}, {@code version}; who waits for what is counted by {@code EngineWaits}, and written
 * by the package {@code counters}.
 */
package org.revenantdb.engine;
