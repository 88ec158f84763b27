/**
 * The log goes to an archive while it is written, and a database is restored from it as it was at
 * any moment.
 *
 * <p>Reading order: {@code ArchiveLayout}, {@code ArchiveFiles}, {@code ArchiveLog}, {@code
 * ArchiveWriter}, {@code Archiver} (the thread), {@code Restore}, {@code Pruning}; then the
 * follower: {@code Following}, {@code Fold}, {@code Fence}.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
@NullMarked
package org.revenantdb.engine.archive;

import org.jspecify.annotations.NullMarked;
