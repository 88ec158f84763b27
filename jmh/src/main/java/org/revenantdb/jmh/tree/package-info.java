/**
 * What {@code bench tree} runs, each main in a JVM of its own.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.tree.TreeRows}, what is stored; {@link
 * org.revenantdb.jmh.tree.RowChoice}, which rows are asked for; {@link
 * org.revenantdb.jmh.tree.TreeStore}, an engine, with {@link org.revenantdb.jmh.tree.RevenantTree}
 * and {@link org.revenantdb.jmh.tree.MapLimit} here and the others among the peers; {@code
 * TreeWork}, what is done with it; {@link org.revenantdb.jmh.tree.TreeFork} and {@link
 * org.revenantdb.jmh.tree.SpillFork}, the rows in memory and five times larger.
 */
@NullMarked
package org.revenantdb.jmh.tree;

import org.jspecify.annotations.NullMarked;
