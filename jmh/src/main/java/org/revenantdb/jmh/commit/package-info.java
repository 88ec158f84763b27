/**
 * The programs of {@code bench commit}, each main in its own JVM.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.commit.Rows}, the data; {@link
 * org.revenantdb.jmh.fork.Sessions}, threads that repeat one action for a time; {@link
 * org.revenantdb.jmh.commit.OneRowCommits} and {@link org.revenantdb.jmh.commit.CommitsFork},
 * durable commits of any engine; then one fork for each question.
 */
@NullMarked
package org.revenantdb.jmh.commit;

import org.jspecify.annotations.NullMarked;
