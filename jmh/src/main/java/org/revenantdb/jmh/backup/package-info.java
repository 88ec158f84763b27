/** What a backup costs concurrent writers, and how fast it is. */
@NullMarked
package org.revenantdb.jmh.backup;

import org.jspecify.annotations.NullMarked;
