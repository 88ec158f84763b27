/** What backups, archives and followers cost, and how fast they are. */
@NullMarked
package org.revenantdb.jmh.backup;

import org.jspecify.annotations.NullMarked;
