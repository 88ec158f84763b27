package org.revenantdb.recovery.file;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Something is wrong with a file. The exception has the file, the place in it, the reason, and what
 * to do.
 *
 * <p>The message is one sentence with all four; the accessors return them one by one. Subclasses
 * stand for kinds of trouble.
 *
 * <p>An exception belongs to the thread that made it. Another thread that has to report the same
 * trouble throws the result of {@link #forCaller}. That exception has the stack of its own caller,
 * and no two threads modify one object.
 */
public class StorageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The offset if the trouble concerns a whole file. */
  public static final long NO_OFFSET = -1;

  private final transient Path file;

  /** The byte in the file, -1 if the trouble concerns the whole file. */
  private final long offset;

  /** What is wrong. */
  private final String reason;

  /** What the user can do. */
  private final String cure;

  /** The thread whose stack this has. */
  private final transient long madeBy = Thread.currentThread().threadId();

  /**
   * Trouble with a file.
   *
   * @param file the file or directory
   * @param offset the byte in it, or {@link #NO_OFFSET}
   * @param reason what is wrong, a clause without a full stop
   * @param cure what the user can do, a clause without a full stop
   * @param cause the error of the system, or null
   */
  public StorageException(
      Path file, long offset, String reason, String cure, @Nullable Throwable cause) {
    super(sentence(file, offset, reason, cure), cause);
    this.file = file;
    this.offset = offset;
    this.reason = reason;
    this.cure = cure;
  }

  private static String sentence(Path file, long offset, String reason, String cure) {
    String place = offset < 0 ? "" : " at byte " + offset;
    return file + place + ": " + reason + "; " + cure + ".";
  }

  /**
   * The file or directory.
   *
   * @return its path, as it was given to the engine
   */
  public final Path file() {
    return file;
  }

  /**
   * Where in the file.
   *
   * @return the byte, or {@link #NO_OFFSET} if the trouble concerns the whole file
   */
  public final long offset() {
    return offset;
  }

  /**
   * What is wrong.
   *
   * @return a clause
   */
  public final String reason() {
    return reason;
  }

  /**
   * What the user can do.
   *
   * @return a clause
   */
  public final String cure() {
    return cure;
  }

  /**
   * The same trouble for the current thread.
   *
   * @return this exception, if the current thread made it; else another one of the same class with
   *     the same fields, the current stack, and this one as its cause
   */
  public final StorageException forCaller() {
    return Thread.currentThread().threadId() == madeBy ? this : copy();
  }

  /**
   * Another exception of this class with the same fields and the current stack; each subclass makes
   * its own.
   *
   * @return the copy, whose cause is this exception
   */
  protected StorageException copy() {
    return new StorageException(file, offset, reason, cure, this);
  }
}
