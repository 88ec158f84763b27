package org.revenantdb.recovery.file;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A file or directory cannot be used as it is. The exception has the file, the offset, the reason,
 * and what to do. The message is one sentence with all four. Each subclass stands for one cause.
 *
 * <p>Users of the engine never receive this class. The engine translates it to its own {@code
 * FileException} where a call returns to the user ({@code FileFailures}, decision 0048).
 *
 * <p>An exception belongs to the thread that created it. A second thread that has to report the
 * same failure throws the result of {@link #forCaller}: that exception has the stack of the second
 * thread, and no two threads modify one object.
 */
public class FileException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The offset if the failure concerns a whole file. */
  public static final long NO_OFFSET = -1;

  private final transient Path file;

  /** The byte in the file, -1 if the failure concerns the whole file. */
  private final long offset;

  /** What is wrong. */
  private final String reason;

  /** What the user can do. */
  private final String cure;

  /** The thread that created this exception. */
  private final transient long madeBy = Thread.currentThread().threadId();

  /**
   * Creates an exception about a file.
   *
   * @param file the file or directory
   * @param offset the byte in it, or {@link #NO_OFFSET}
   * @param reason what is wrong, a clause without a full stop
   * @param cure what the user can do, a clause without a full stop
   * @param cause the error of the system, or null
   */
  public FileException(
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
   * @return the byte, or {@link #NO_OFFSET} if the failure concerns the whole file
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
   * Returns the same failure for the current thread.
   *
   * @return this exception if the current thread created it; otherwise a copy with the current
   *     stack and this exception as its cause
   */
  public final FileException forCaller() {
    return Thread.currentThread().threadId() == madeBy ? this : copy();
  }

  /**
   * Creates an exception of this class with the same fields and the current stack. Each subclass
   * overrides it.
   *
   * @return the copy, whose cause is this exception
   */
  protected FileException copy() {
    return new FileException(file, offset, reason, cure, this);
  }
}
