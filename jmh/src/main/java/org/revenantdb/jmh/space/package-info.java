/** What concurrent changes of a space map cost in each of its parts. */
@NullMarked
package org.revenantdb.jmh.space;

import org.jspecify.annotations.NullMarked;
