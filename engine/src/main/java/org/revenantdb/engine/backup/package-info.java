/**
 * A copy of a database that is in use.
 *
 * <p>Reading order: {@code BackupSource}, {@code BackupRun} (the steps), {@code PageCopy}, {@code
 * WriterShare}, {@code BackupOutput} with {@code DirectoryOutput} and {@code StreamOutput}, {@code
 * BackupTarget}, {@code Backups}; {@code StreamLayout}, {@code BackupUnpack}.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
@NullMarked
package org.revenantdb.engine.backup;

import org.jspecify.annotations.NullMarked;
