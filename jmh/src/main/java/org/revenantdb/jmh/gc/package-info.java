/**
 * The JVMs of {@code bench gc}: snapshots together with writers, and the cost of the versions
 * between them.
 *
 * <p>Reading order: {@code SnapshotStore} and {@code HotRowsFork}, one snapshot with hot rows, in
 * our engine and in others; {@code FlatnessFork}, the same for a long time; {@code SnapshotBounds},
 * its limits; {@code ChFork}, order entry and analysis; {@code UpdatesFork}, cheap updates, skewed
 * or with scans; {@code GarbageCounts}, the counts of versions.
 */
@NullMarked
package org.revenantdb.jmh.gc;

import org.jspecify.annotations.NullMarked;
