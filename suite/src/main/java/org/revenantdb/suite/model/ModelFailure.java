package org.revenantdb.suite.model;

/** The store broke one of its promises. */
public final class ModelFailure extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Creates the failure.
   *
   * @param what the wrong behaviour of the store
   */
  public ModelFailure(String what) {
    super(what);
  }

  /**
   * Creates the failure.
   *
   * @param what the wrong behaviour of the store
   * @param cause the exception of the store
   */
  public ModelFailure(String what, Throwable cause) {
    super(what, cause);
  }
}
