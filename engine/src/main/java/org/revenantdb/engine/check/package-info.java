/**
 * Checks of a whole database, open or closed: pages, trees, extents and values.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
@NullMarked
package org.revenantdb.engine.check;

import org.jspecify.annotations.NullMarked;
