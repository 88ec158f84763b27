/**
 * The seam to {@code java.nio}: what opening, writing and forcing a file mean to us, in one place.
 *
 * <p>Everything goes through the {@link java.nio.file.Path} that the user gave, so that any {@link
 * java.nio.file.FileSystem} can stand in, and everything that goes wrong becomes a {@link
 * org.revenantdb.recovery.file.StorageException} that names file, place, reason and cure.
 *
 * <p>Reading order: {@link org.revenantdb.recovery.file.StorageException}, {@link
 * org.revenantdb.recovery.file.StorageFile}, {@link org.revenantdb.recovery.file.Directories},
 * {@link org.revenantdb.recovery.file.DirectoryLock}; then what stands in the files besides pages
 * and log: {@link org.revenantdb.recovery.file.DataFileHeader}, {@link
 * org.revenantdb.recovery.file.ControlFile}, {@link org.revenantdb.recovery.file.DoubleWriteFile}.
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
package org.revenantdb.recovery.file;
