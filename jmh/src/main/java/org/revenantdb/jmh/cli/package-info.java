/**
 * The command {@code ./revenant bench}.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.cli.Main}, {@link org.revenantdb.jmh.cli.Bench} (what
 * a measurement must offer), {@link org.revenantdb.jmh.cli.OffHeapBench} (a small one of them);
 * {@link org.revenantdb.jmh.cli.Rounds} with {@link org.revenantdb.jmh.cli.Probe}, {@link
 * org.revenantdb.jmh.cli.JmhRounds}, {@link org.revenantdb.jmh.cli.ContendedRounds} and {@link
 * org.revenantdb.jmh.cli.Fork} for how it is measured; {@link org.revenantdb.jmh.cli.Figures},
 * {@link org.revenantdb.jmh.cli.Output}, {@link org.revenantdb.jmh.cli.Report} for how it is told;
 * {@link org.revenantdb.jmh.cli.LatchBench} and its parts for a large one.
 */
@NullMarked
package org.revenantdb.jmh.cli;

import org.jspecify.annotations.NullMarked;
