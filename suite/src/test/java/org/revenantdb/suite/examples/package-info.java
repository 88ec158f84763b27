/**
 * Examples of the use of lazy commits, each crashed like any other subject.
 *
 * <p>Reading order: {@link org.revenantdb.suite.examples.BulkLoadTest} (a load that continues where
 * a crash left it), {@link org.revenantdb.suite.examples.QueueSubject} (a queue that is processed
 * lazily, with effects outside the database).
 */
@NullMarked
package org.revenantdb.suite.examples;

import org.jspecify.annotations.NullMarked;
