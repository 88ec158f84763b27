/**
 * Files for data that exceeds its memory and is of no use to another life: older versions of rows,
 * the rows that a transaction has overwritten, and those of an unsorted bulk load
 * (docs/protocols.md §30, docs/format.md §8).
 *
 * <p>Reading order: {@code SpillLayout} (the bytes), {@code SpillFiles}, {@code SpillFile}; {@code
 * VersionRun}, with the classes that find a version in it, {@code RunWriter}, {@code RunMerge},
 * {@code VersionRuns}; {@code SpilledStack}; {@code SpilledBlocks}.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
package org.revenantdb.gc.spill;
