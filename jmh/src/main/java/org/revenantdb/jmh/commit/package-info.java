/**
 * What {@code bench commit} runs, each main in a JVM of its own.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.commit.Rows}, what is stored; {@link
 * org.revenantdb.jmh.fork.Sessions}, threads that do one thing for a time; {@link
 * org.revenantdb.jmh.commit.OneRowCommits} and {@link org.revenantdb.jmh.commit.CommitsFork},
 * durable commits of any engine; then one fork a question.
 */
@NullMarked
package org.revenantdb.jmh.commit;

import org.jspecify.annotations.NullMarked;
