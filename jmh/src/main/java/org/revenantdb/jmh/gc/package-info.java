/**
 * What the JVMs of {@code bench gc} run: snapshots beside writers, and what the versions between
 * them cost.
 *
 * <p>Reading order: {@code SnapshotStore} and {@code HotRowsFork}, one snapshot beside hot rows, in
 * ours and in other engines; {@code FlatnessFork}, the same for long; {@code SnapshotBounds}, what
 * that may take; {@code ChFork}, order entry and analysis; {@code UpdatesFork}, cheap updates,
 * uneven or beside scans; {@code GarbageCounts}, what they all tell of versions.
 */
@NullMarked
package org.revenantdb.jmh.gc;

import org.jspecify.annotations.NullMarked;
