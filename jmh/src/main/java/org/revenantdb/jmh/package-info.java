/**
 * Benchmarks, one class a question.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.OffHeapAccessBenchmark} for the form of a benchmark,
 * then {@code cli} for the way from its results to figures; {@code contend} for runs of many
 * threads, {@code latch} for the loops that they run.
 */
@NullMarked
package org.revenantdb.jmh;

import org.jspecify.annotations.NullMarked;
