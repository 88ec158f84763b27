/**
 * A copy of a database that is in use.
 *
 * <p>Reading order: {@code BackupSource}, {@code BackupRun} (the steps), {@code PageCopy}, {@code
 * WriterShare}, {@code BackupNotes}, {@code BackupOutput} with {@code DirectoryOutput} and {@code
 * EntryOutput}, {@code BackupTarget}, {@code Backups}; {@code StreamLayout}, {@code StreamReader},
 * {@code WholeDirectory}, {@code BackupApply}.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
@NullMarked
package org.revenantdb.engine.backup;

import org.jspecify.annotations.NullMarked;
