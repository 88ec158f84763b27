/** What a backup costs those who write beside it, and how fast it is. */
@NullMarked
package org.revenantdb.jmh.backup;

import org.jspecify.annotations.NullMarked;
