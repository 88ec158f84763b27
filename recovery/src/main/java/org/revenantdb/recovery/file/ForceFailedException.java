package org.revenantdb.recovery.file;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A force failed. So nothing that was written to that file before it can be relied on.
 *
 * <p>This is final. The operating system may have dropped the bytes and marked them clean, so that
 * the next force would succeed without writing them; it must not be tried again (rule R6).
 */
public final class ForceFailedException extends StorageIOException {
  private static final long serialVersionUID = 1L;

  /**
   * A force that failed now or earlier.
   *
   * @param file the file or directory
   * @param reason what is wrong, a clause without a full stop
   * @param cause the error of the system, or null
   */
  public ForceFailedException(Path file, String reason, @Nullable Throwable cause) {
    this(file, reason, cureOf(cause), cause);
  }

  private ForceFailedException(Path file, String reason, String cure, @Nullable Throwable cause) {
    super(file, NO_OFFSET, reason, cure, cause);
  }

  private static String cureOf(@Nullable Throwable cause) {
    if (cause instanceof ForceFailedException earlier) {
      return earlier.cure();
    }
    Trouble trouble = cause instanceof IOException said ? Trouble.of(said) : Trouble.DEVICE;
    return (trouble == Trouble.OTHER ? Trouble.DEVICE : trouble).cure
        + ": it uses only what was known to be durable";
  }

  @Override
  protected FileException copy() {
    return new ForceFailedException(file(), reason(), cure(), this);
  }
}
