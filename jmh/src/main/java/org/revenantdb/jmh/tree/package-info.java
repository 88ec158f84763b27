/**
 * The programs of {@code bench tree}, each main in its own JVM.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.tree.TreeRows}, the data; {@link
 * org.revenantdb.jmh.tree.RowChoice}, the choice of rows; {@link
 * org.revenantdb.jmh.tree.TreeStore}, an engine, with {@link org.revenantdb.jmh.tree.RevenantTree}
 * and {@link org.revenantdb.jmh.tree.MapLimit} here and the others among the peers; {@code
 * TreeWork}, the operations; {@link org.revenantdb.jmh.tree.TreeFork} and {@link
 * org.revenantdb.jmh.tree.SpillFork}, the rows in memory and five times larger.
 */
@NullMarked
package org.revenantdb.jmh.tree;

import org.jspecify.annotations.NullMarked;
