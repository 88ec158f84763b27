package org.revenantdb.engine.access;

/**
 * A call that the caller must not make, refused at once. The Javadoc of the method tells of it by
 * the class of Java that it extends; by this type it is known from a failure of the engine's own.
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
