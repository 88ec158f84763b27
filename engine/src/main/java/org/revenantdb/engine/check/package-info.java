/** Checks of a whole database: pages, trees, extents and values, of one that is open or is not. */
@NullMarked
package org.revenantdb.engine.check;

import org.jspecify.annotations.NullMarked;
