/**
 * Checks of a whole database: pages, trees, extents and values, of one that is open or is not.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
@NullMarked
package org.revenantdb.engine.check;

import org.jspecify.annotations.NullMarked;
