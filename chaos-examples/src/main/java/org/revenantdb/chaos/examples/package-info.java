/**
 * Crash tests of stores that others have written: each store with the settings that its documents
 * call durable, and what those documents promise.
 */
@NullMarked
package org.revenantdb.chaos.examples;

import org.jspecify.annotations.NullMarked;
