/**
 * The interface to {@code java.nio}: it defines in one place what opening, writing and forcing a
 * file mean.
 *
 * <p>All access uses the {@link java.nio.file.Path} that the user gave, so it works with any {@link
 * java.nio.file.FileSystem}. Every failure becomes a {@link
 * org.revenantdb.recovery.file.FileException} with file, place, reason and cure.
 *
 * <p>Reading order: {@link org.revenantdb.recovery.file.FileException}, {@link
 * org.revenantdb.recovery.file.StorageFile}, {@link org.revenantdb.recovery.file.Directories},
 * {@link org.revenantdb.recovery.file.DirectoryLock}; then what the files contain besides pages and
 * log: {@link org.revenantdb.recovery.file.DataFileHeader}, {@link
 * org.revenantdb.recovery.file.ControlFile}, {@link org.revenantdb.recovery.file.DoubleWriteFile}.
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
package org.revenantdb.recovery.file;
