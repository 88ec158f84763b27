/**
 * Examples of what lazy commits are for, each crashed like any other subject.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.examples.BulkLoadTest} (a load that goes on where a
 * crash left it), {@link org.revenantdb.chaos.examples.QueueSubject} (a queue that is worked off
 * lazily, and effects outside of the database).
 */
@NullMarked
package org.revenantdb.chaos.examples;

import org.jspecify.annotations.NullMarked;
