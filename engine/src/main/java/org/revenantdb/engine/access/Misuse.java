package org.revenantdb.engine.access;

import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * A wrong call, which is refused at once. The Javadoc of the method names the class of Java that
 * the exception extends. This type distinguishes it from a failure of the engine itself.
 */
public interface Misuse {
  /** An argument that does not fit. */
  public final class OfArgument extends IllegalArgumentException implements Misuse {
    private static final long serialVersionUID = 1L;

    public OfArgument(String message) {
      super(message);
    }

    @Override
    @SuppressWarnings("OverrideThrowableToString") // the name of the class is what differs
    public String toString() {
      return named(this);
    }
  }

  /** The caller has ended its own call. */
  public final class OfCancellation extends CancellationException implements Misuse {
    private static final long serialVersionUID = 1L;

    public OfCancellation(String message, @Nullable Throwable cause) {
      super(message);
      if (cause != null) {
        initCause(cause);
      }
    }

    @Override
    @SuppressWarnings("OverrideThrowableToString") // the name of the class is what differs
    public String toString() {
      return named(this);
    }
  }

  /** A call at the wrong time. */
  public final class OfState extends IllegalStateException implements Misuse {
    private static final long serialVersionUID = 1L;

    public OfState(String message) {
      super(message);
    }

    @Override
    @SuppressWarnings("OverrideThrowableToString") // the name of the class is what differs
    public String toString() {
      return named(this);
    }
  }

  /** As Java's own class prints it: a stack trace shows the class that the Javadoc names. */
  private static String named(Throwable misuse) {
    return misuse.getClass().getSuperclass().getName() + ": " + misuse.getMessage();
  }
}
