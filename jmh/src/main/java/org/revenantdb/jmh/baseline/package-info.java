/**
 * What the papers replaced or proposed where we do something else, kept to be measured against; it
 * never enters the engine.
 */
@NullMarked
package org.revenantdb.jmh.baseline;

import org.jspecify.annotations.NullMarked;
