/**
 * Files for what is too much for memory and of no use to another life: older versions of rows, and
 * what a transaction has overwritten (docs/protocols.md §30, docs/format.md §8).
 *
 * <p>Reading order: {@code SpillLayout} (the bytes), {@code SpillFiles}, {@code SpillFile}; {@code
 * VersionRun} and how one is found in, {@code RunWriter}, {@code RunMerge}, {@code VersionRuns};
 * {@code SpilledStack}.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
package org.revenantdb.gc.spill;
