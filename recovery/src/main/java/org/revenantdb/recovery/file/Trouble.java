package org.revenantdb.recovery.file;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The kinds of errors that an operating system reports about a file, with the meaning of each for a
 * database, and what the user can do about it.
 *
 * <p>Java has classes for some of them. For the others there is only the system's text.
 */
enum Trouble {
  /** Before {@link #CLOSED}, whose class it extends. */
  INTERRUPTED(
      Kind.OTHER,
      "a thread was interrupted meanwhile, which closed the file",
      "do not interrupt the threads of the engine, and open the database again",
      List.of(ClosedByInterruptException.class)),
  CLOSED(
      Kind.OTHER,
      "the file is closed",
      "open the database again",
      List.of(ClosedChannelException.class)),
  MISSING(
      Kind.MISSING,
      "there is no such file",
      "check the path; if the file was moved or deleted, put it back",
      List.of(NoSuchFileException.class),
      "No such file or directory"),
  EXISTS(
      Kind.OTHER,
      "the file exists already",
      "check the path; if somebody has copied the file to this place, move it away",
      List.of(FileAlreadyExistsException.class),
      "File exists"),
  NO_DIRECTORY(
      Kind.OTHER,
      "a part of the path is a file, not a directory",
      "check the path",
      List.of(NotDirectoryException.class),
      "Not a directory"),
  DIRECTORY(
      Kind.OTHER,
      "a directory is in the place of the file",
      "check the path; if somebody has made the directory, move it away",
      List.of(),
      "Is a directory"),
  LOOP(
      Kind.OTHER,
      "the path goes in a circle of symbolic links, or through too many",
      "correct the links, or use a path without them",
      List.of(FileSystemLoopException.class),
      "Too many levels of symbolic links"),
  LONG_NAME(
      Kind.OTHER,
      "the path is too long for this file system",
      "put the database under a shorter path",
      List.of(),
      "File name too long"),
  QUOTA(
      Kind.FULL,
      "the quota of this user is used up",
      "make room or have the quota raised, and try again; if the engine has stopped, close the database and open it again",
      List.of(),
      "Disk quota exceeded",
      "Quota exceeded"),
  FULL(
      Kind.FULL,
      "the device is full",
      "make room and try again; if the engine has stopped, close the database and open it again",
      List.of(),
      "No space left on device"),
  LARGE(
      Kind.FULL,
      "the file would be larger than this process or its file system allows",
      "raise the limit of file sizes (ulimit -f), or use a file system that allows larger files,"
          + " then open the database again",
      List.of(),
      "File too large"),
  HANDLES(
      Kind.OTHER,
      "this process has as many files open as it may",
      "close some of them or raise the limit of open files (ulimit -n), then open the database"
          + " again",
      List.of(),
      "Too many open files"),
  READ_ONLY(
      Kind.REFUSED,
      "the file system is read-only",
      "mount it so that it can be written, or use another one; to only read, open the database"
          + " read-only. An operating system remounts a file system read-only when its device has"
          + " failed",
      List.of(),
      "Read-only file system"),
  NO_RIGHTS(
      Kind.REFUSED,
      "this user has no permission",
      "grant it to the user of this process, on the file and on the directories above it; to only"
          + " read, open the database read-only",
      List.of(AccessDeniedException.class),
      "Permission denied",
      "Operation not permitted"),
  STALE(
      Kind.OTHER,
      "the network file system has another file in this place, or none",
      "mount it again, and put the file back if it was moved, then open the database again",
      List.of(),
      "Stale file handle",
      "Stale NFS file handle"),
  UNREACHABLE(
      Kind.OTHER,
      "the device or the server of the file system does not answer",
      "connect it, and mount it again if necessary, then open the database again",
      List.of(),
      "No such device",
      "Transport endpoint is not connected",
      "Connection timed out",
      "Host is down",
      "Network is unreachable"),
  NO_LOCKS(
      Kind.OTHER,
      "the file system does not support locks",
      "start its lock service, or put the database on a local file system",
      List.of(),
      "No locks available"),
  UNSUPPORTED(
      Kind.OTHER,
      "the file system does not support this",
      "put the database on a local file system",
      List.of(AtomicMoveNotSupportedException.class),
      "Operation not supported",
      "Function not implemented",
      "Invalid cross-device link"),
  NO_MEMORY(
      Kind.OTHER,
      "the system has no memory left",
      "end other processes or use a machine with more memory, then open the database again",
      List.of(),
      "Cannot allocate memory"),
  DEVICE(
      Kind.OTHER,
      "the device has failed",
      "check the device, then open the database again",
      List.of(),
      "Input/output error",
      "Structure needs cleaning",
      "Remote I/O error"),
  OTHER(
      Kind.OTHER,
      "the system reports an error",
      "remove its cause, then open the database again",
      List.of());

  /** The class of exception that reports it. */
  enum Kind {
    MISSING,
    FULL,
    REFUSED,
    OTHER
  }

  final Kind kind;

  /** What is wrong, a clause without a full stop. */
  final String reason;

  /** What the user can do, a clause without a full stop. */
  final String cure;

  @SuppressWarnings("ImmutableEnumChecker") // it is: List.of
  private final List<Class<? extends IOException>> classes;

  @SuppressWarnings("ImmutableEnumChecker") // it is: List.of
  private final List<String> words;

  Trouble(
      Kind kind,
      String reason,
      String cure,
      List<Class<? extends IOException>> classes,
      String... words) {
    this.kind = kind;
    this.reason = reason;
    this.cure = cure;
    this.classes = classes;
    this.words = List.of(words);
  }

  /** Finds the kind of a failure. */
  static Trouble of(IOException failure) {
    for (Trouble trouble : values()) {
      if (trouble.hasClassOf(failure)) {
        return trouble;
      }
    }
    String said = systemsWords(failure);
    for (Trouble trouble : values()) {
      for (String known : trouble.words) {
        if (said.contains(known)) {
          return trouble;
        }
      }
    }
    return OTHER;
  }

  /** Whether Java has a class for the failure: then its text adds nothing to the reason. */
  boolean hasClassOf(IOException failure) {
    return classes.stream().anyMatch(known -> known.isInstance(failure));
  }

  /** The system's text without the path, which may contain any words. */
  private static String systemsWords(IOException failure) {
    @Nullable String said =
        failure instanceof FileSystemException known ? known.getReason() : failure.getMessage();
    if (said == null) {
      return "";
    }
    int last = said.lastIndexOf(" (");
    return failure instanceof FileNotFoundException && last >= 0 ? said.substring(last) : said;
  }
}
