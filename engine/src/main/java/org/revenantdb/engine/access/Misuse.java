package org.revenantdb.engine.access;

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
  }

  /** A call at the wrong time. */
  public final class OfState extends IllegalStateException implements Misuse {
    private static final long serialVersionUID = 1L;

    public OfState(String message) {
      super(message);
    }
  }
}
