package org.revenantdb.recovery.file;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import org.jspecify.annotations.Nullable;

/**
 * Translates an error of the system into the exception that states what it means for a database.
 */
public final class IoFailures {
  private IoFailures() {}

  /**
   * The exception for a failed operation that needed no room on the device.
   *
   * @param file the file or directory
   * @param offset the byte in it, or {@link FileException#NO_OFFSET}
   * @param doing what was tried, such as {@code "reading"}
   * @param failure the error of the system
   * @return the exception to throw
   */
  public static FileException of(Path file, long offset, String doing, IOException failure) {
    return of(file, offset, doing, failure, /* room= */ 0);
  }

  /**
   * The exception for a failed operation.
   *
   * @param file the file or directory
   * @param offset the byte in it, or {@link FileException#NO_OFFSET}
   * @param doing what was tried, such as {@code "writing"}
   * @param failure the error of the system
   * @param room how many bytes of room the operation may have needed; if the device has less, it
   *     counts as full, whatever the text of the error is
   * @return the exception to throw
   */
  public static FileException of(
      Path file, long offset, String doing, IOException failure, long room) {
    Trouble trouble = Trouble.of(failure);
    if (trouble == Trouble.OTHER && room > 0 && usableSpace(file) < room) {
      trouble = Trouble.FULL; // the text of the system is in another language
    }
    String said = trouble.hasClassOf(failure) ? "" : " (" + said(failure) + ")";
    String reason = doing + " failed: " + trouble.reason + said;
    return switch (trouble.kind) {
      case MISSING -> new MissingFileException(file, offset, reason, trouble.cure, failure);
      case FULL -> new DiskFullException(file, offset, reason, trouble.cure, failure);
      case REFUSED -> new ReadOnlyStorageException(file, offset, reason, trouble.cure, failure);
      case OTHER -> new StorageIOException(file, offset, reason, trouble.cure, failure);
    };
  }

  /**
   * The exception for a file system that refuses every change.
   *
   * @param file the file or directory
   * @param doing what was tried, such as {@code "creating"}
   * @param failure the error of the system
   * @return the exception to throw
   */
  public static FileException readOnly(
      Path file, String doing, ReadOnlyFileSystemException failure) {
    return new ReadOnlyStorageException(
        file,
        FileException.NO_OFFSET,
        doing + " failed: " + Trouble.READ_ONLY.reason,
        Trouble.READ_ONLY.cure,
        failure);
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

  /** The text of the system's error, for the middle of a sentence. */
  static String said(Exception failure) {
    if (failure instanceof ClosedByInterruptException) {
      return "a thread was interrupted meanwhile, which closed the file";
    }
    @Nullable String message = failure.getMessage();
    String kind = failure.getClass().getSimpleName();
    return message == null ? kind : kind + ": " + message;
  }
}
