package org.revenantdb.recovery.file;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import org.jspecify.annotations.Nullable;

/** Turns what the system said into the exception that says what it means for a database. */
public final class IoFailures {
  private IoFailures() {}

  /**
   * The exception for a failed operation that needed no room on the device.
   *
   * @param file the file or directory
   * @param offset the byte in it, or {@link StorageException#NO_OFFSET}
   * @param doing what was tried, such as {@code "reading"}
   * @param failure what the system said
   * @return the exception to throw
   */
  public static StorageException of(Path file, long offset, String doing, IOException failure) {
    return of(file, offset, doing, failure, /* room= */ 0);
  }

  /**
   * The exception for a failed operation.
   *
   * @param file the file or directory
   * @param offset the byte in it, or {@link StorageException#NO_OFFSET}
   * @param doing what was tried, such as {@code "writing"}
   * @param failure what the system said
   * @param room how many bytes of room the operation may have needed; a device that has less is
   *     taken for full, whatever the words of the failure
   * @return the exception to throw
   */
  public static StorageException of(
      Path file, long offset, String doing, IOException failure, long room) {
    if (failure instanceof ClosedByInterruptException) {
      return new StorageIOException(
          file,
          offset,
          "a thread was interrupted while it was " + doing + ", which closed the file",
          "do not interrupt the threads of the engine, and open the database again",
          failure);
    }
    if (failure instanceof ClosedChannelException) {
      return new StorageIOException(
          file, offset, doing + " failed: the file is closed", "open the database again", failure);
    }
    if (failure instanceof NoSuchFileException) {
      return new MissingFileException(
          file, offset, doing + " failed: there is no such file", "check the path", failure);
    }
    if (failure instanceof FileAlreadyExistsException) {
      return new StorageIOException(
          file, offset, doing + " failed: the file exists already", "check the path", failure);
    }
    if (isDiskFull(file, failure, room)) {
      return new DiskFullException(
          file,
          offset,
          doing + " failed: the device or the quota is full (" + said(failure) + ")",
          "make room, then open the database again",
          failure);
    }
    if (saysReadOnly(failure)) {
      return new ReadOnlyStorageException(
          file,
          offset,
          doing + " failed: no permission (" + said(failure) + ")",
          "grant the permission to the user of this process, or open the database read-only",
          failure);
    }
    return new StorageIOException(
        file,
        offset,
        doing + " failed (" + said(failure) + ")",
        "check the device, then open the database again",
        failure);
  }

  /**
   * The exception for a file system that refuses every change.
   *
   * @param file the file or directory
   * @param doing what was tried, such as {@code "creating"}
   * @param failure what the system said
   * @return the exception to throw
   */
  public static StorageException readOnly(
      Path file, String doing, ReadOnlyFileSystemException failure) {
    return new ReadOnlyStorageException(
        file,
        StorageException.NO_OFFSET,
        doing + " failed: the file system is read-only",
        "put the database on a file system that can be written, or open it read-only",
        failure);
  }

  private static boolean saysReadOnly(IOException failure) {
    return failure instanceof AccessDeniedException || messageHas(failure, "Read-only file system");
  }

  private static boolean isDiskFull(Path file, IOException failure, long room) {
    if (messageHas(failure, "No space left on device")
        || messageHas(failure, "Disk quota exceeded")) {
      return true;
    }
    // The words above are those of one language and one family of systems.
    return room > 0 && usableSpace(file) < room;
  }

  private static long usableSpace(Path file) {
    try {
      @Nullable Path directory = file.toAbsolutePath().getParent();
      Path there = directory == null || Files.exists(file) ? file : directory;
      return Files.getFileStore(there).getUsableSpace();
    } catch (IOException | UnsupportedOperationException unknown) {
      return Long.MAX_VALUE;
    }
  }

  private static boolean messageHas(IOException failure, String words) {
    @Nullable String message = failure.getMessage();
    return message != null && message.contains(words);
  }

  /** What the system said, in words, for the middle of a sentence. */
  static String said(Exception failure) {
    if (failure instanceof ClosedByInterruptException) {
      return "a thread was interrupted meanwhile, which closed the file";
    }
    @Nullable String message = failure.getMessage();
    String kind = failure.getClass().getSimpleName();
    return message == null ? kind : kind + ": " + message;
  }
}
