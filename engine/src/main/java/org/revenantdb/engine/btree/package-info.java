/**
 * The B+-tree: one algorithm a class, over the layouts of {@code page} and the frames of {@code
 * buffer}.
 *
 * <p>Reading order: {@code Tree} (descents), {@code Split}, {@code Merge}.
 */
package org.revenantdb.engine.btree;
