/**
 * Benchmarks, one class a question.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.OffHeapAccessBenchmark} for the form of one, then
 * {@code cli} for how its results become figures.
 */
@NullMarked
package org.revenantdb.jmh;

import org.jspecify.annotations.NullMarked;
