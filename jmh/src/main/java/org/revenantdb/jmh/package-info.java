/**
 * Benchmarks, one class a question.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.OffHeapAccessBenchmark} for the form of one, then
 * {@code cli} for how its results become figures; {@code contend} for runs of many threads, {@code
 * latch} for what they run.
 */
@NullMarked
package org.revenantdb.jmh;

import org.jspecify.annotations.NullMarked;
