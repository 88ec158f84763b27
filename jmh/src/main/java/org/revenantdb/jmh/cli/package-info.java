/**
 * The command {@code ./revenant bench}.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.cli.Main}, {@link org.revenantdb.jmh.cli.Bench} (what
 * a measurement must offer), {@link org.revenantdb.jmh.cli.OffHeapBench} (one of them), {@link
 * org.revenantdb.jmh.cli.JmhRounds}, {@link org.revenantdb.jmh.cli.Figures}.
 */
@NullMarked
package org.revenantdb.jmh.cli;

import org.jspecify.annotations.NullMarked;
