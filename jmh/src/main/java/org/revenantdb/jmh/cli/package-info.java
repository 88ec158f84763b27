/**
 * The command {@code ./revenant bench}.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.cli.Main}, {@link org.revenantdb.jmh.cli.Bench} (the
 * interface of a measurement), {@link org.revenantdb.jmh.cli.OffHeapBench} (a small example);
 * {@link org.revenantdb.jmh.cli.Rounds} with {@link org.revenantdb.jmh.cli.Probe}, {@link
 * org.revenantdb.jmh.cli.JmhRounds}, {@link org.revenantdb.jmh.cli.ContendedRounds} and {@link
 * org.revenantdb.jmh.cli.Fork} (measuring); {@link org.revenantdb.jmh.cli.Figures}, {@link
 * org.revenantdb.jmh.cli.Output}, {@link org.revenantdb.jmh.cli.Report} (reporting); {@link
 * org.revenantdb.jmh.cli.LatchBench} and its parts (a large example).
 */
@NullMarked
package org.revenantdb.jmh.cli;

import org.jspecify.annotations.NullMarked;
