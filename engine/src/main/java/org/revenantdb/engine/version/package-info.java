/**
 * Versions of rows: which one a snapshot sees, where older ones are kept, and who takes them away.
 *
 * <p>Reading order: {@code VolatileStore}, {@code GarbageStrategy}, {@code Steam}; {@code
 * RowReader}; {@code RowWriter} (find, retry), {@code RowDecision} (what becomes of the row), {@code
 * RowChange} (the record), {@code LeafRoom}, {@code WriteHistory} (what can be put back); {@code
 * Cleaner}, {@code CleaningPass}, {@code PageVisit}; {@code RowLoader} (many rows in order); {@code RowScan}, {@code MergedScan} (of partitions); {@code
 * DroppedTables}, {@code TableRemoval}.
 */
package org.revenantdb.engine.version;
