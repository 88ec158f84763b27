/**
 * Examples of what lazy commits are for, each crashed like any other subject.
 *
 * <p>Reading order: {@link org.revenantdb.suite.examples.BulkLoadTest} (a load that goes on where a
 * crash left it), {@link org.revenantdb.suite.examples.QueueSubject} (a queue that is worked off
 * lazily, and effects outside of the database).
 */
@NullMarked
package org.revenantdb.suite.examples;

import org.jspecify.annotations.NullMarked;
