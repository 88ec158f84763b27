/**
 * Versions of rows on their pages: which one a snapshot sees, how they are written, and how they
 * are removed. Older versions that have left their page are in {@code org.revenantdb.gc.version}.
 *
 * <p>Reading order: {@code RowReader}; {@code RowWriter} (find, retry), {@code RowDecision} (what
 * happens to the row), {@code RowChange} (the record), {@code LeafRoom}, {@code WriteHistory} (what
 * can be put back); {@code Cleaner}, {@code CleaningPass}, {@code PageVisit}; {@code RowLoader}
 * (many rows in order); {@code RowScan}, {@code MergedScan} (of partitions); {@code DroppedTables},
 * {@code TableRemoval}.
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
package org.revenantdb.engine.version;
