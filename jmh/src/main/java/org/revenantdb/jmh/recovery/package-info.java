/** What a killed or rolled back transaction costs, whatever its size. */
@NullMarked
package org.revenantdb.jmh.recovery;

import org.jspecify.annotations.NullMarked;
