/**
 * Methods that the papers replaced or proposed and that we do not use, kept for comparisons; they
 * never enter the engine.
 */
@NullMarked
package org.revenantdb.jmh.baseline;

import org.jspecify.annotations.NullMarked;
